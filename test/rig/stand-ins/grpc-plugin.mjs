// What both stand-ins of the rig tests share: the gRPC stubs of the Pulumi SDK, a server whose port is the first line on stdout (how a
// Pulumi plugin says where it listens), and an end that the CLI need not wait for.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
// The stubs and @grpc/grpc-js must be the SDK's own copies: messages of another copy are refused.
const requireFromSdk = createRequire(require.resolve('@pulumi/pulumi/package.json'));
export const grpc = requireFromSdk('@grpc/grpc-js');
export const Empty = requireFromSdk('google-protobuf/google/protobuf/empty_pb.js').Empty;
export const Struct = requireFromSdk('google-protobuf/google/protobuf/struct_pb.js').Struct;
export const proto = (name) => requireFromSdk(`./proto/${name}.js`);

/** 400 MiB, the SDK's own bound of a message. */
const MESSAGE_BYTES = 400 * 2 ** 20;
const LIMITS = { 'grpc.max_receive_message_length': MESSAGE_BYTES, 'grpc.max_send_message_length': MESSAGE_BYTES };

export function connectClient(Client, address) {
  return new Client(address, grpc.credentials.createInsecure(), LIMITS);
}

/** Turns an async function from request to response into a gRPC handler. */
export function unary(answer) {
  return (call, callback) => {
    answer(call.request).then(
      (response) => callback(null, response),
      (error) => callback({ code: grpc.status.UNKNOWN, details: error.message }),
    );
  };
}

/** The CLI passes the engine's address as the last positional argument. */
export function engineAddress() {
  return process.argv.slice(2).findLast((argument) => !argument.startsWith('-'));
}

/**
 * Serves until the CLI ends it. Calls that `handlers` lacks are answered UNIMPLEMENTED by the gRPC library.
 * The CLI sends SIGINT and waits five seconds per plugin before SIGKILL, so both signals end the process at once; and a CLI that was
 * killed sends nothing, so the parent is watched too.
 */
export function servePlugin(service, handlers) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && process.exit(0), 500).unref();
  const server = new grpc.Server(LIMITS);
  server.addService(service, handlers);
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    console.log(String(port));
  });
}
