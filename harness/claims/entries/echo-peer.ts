// Thread: a TCP echo on the loopback, in an event loop of its own: the far end of a round trip as a service in Node answers it.
import { type AddressInfo, createServer } from 'node:net';
import { parentPort } from 'node:worker_threads';

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('data', (bytes) => socket.write(bytes));
  // The near end went away: its own side says why.
  socket.on('error', () => undefined);
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage({ port: (server.address() as AddressInfo).port }));
