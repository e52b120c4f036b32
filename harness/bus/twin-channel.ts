// Both ends of a channel inside one process, for tests of either side without a fork. Messages are structurally cloned and delivered on
// a later turn of the event loop, as IPC does, so that nothing passes here that would not pass there.
import type { Channel } from './channel.js';
import { createInbox, type Inbox } from './inbox.js';

function end<Out, In>(mine: Inbox<In>, theirs: Inbox<Out>): Channel<Out, In> {
  let dropped = 0;
  return {
    get open() {
      return !mine.closed;
    },
    get dropped() {
      return dropped;
    },
    send(message) {
      if (mine.closed) {
        dropped++;
        return;
      }
      const copy = structuredClone(message);
      setImmediate(() => {
        if (theirs.closed) dropped++;
        else theirs.deliver(copy);
      });
    },
    onMessage: mine.onMessage,
    onClose: mine.onClose,
    async drained() {
      await new Promise((done) => setImmediate(done));
    },
    close() {
      mine.close();
      setImmediate(() => theirs.close());
    },
  };
}

/** A connected pair: what `left` sends, `right` receives, and the other way round. */
export function twinChannels<Left, Right>(): { left: Channel<Left, Right>; right: Channel<Right, Left> } {
  const leftInbox = createInbox<Right>();
  const rightInbox = createInbox<Left>();
  return { left: end(leftInbox, rightInbox), right: end(rightInbox, leftInbox) };
}
