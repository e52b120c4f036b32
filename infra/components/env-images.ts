// What a later kind of env that runs in an image of its own will register here: the images it needs on the host. Only the interface, because no
// kind of today needs one; it says what such a component is given and what it must offer to the concerns after it.
import type { remote } from '@pulumi/command';
import type { RigHost } from '../concern.js';

export interface EnvImage {
  /** Kind of env that runs in it. */
  readonly kind: string;
  readonly reference: string;
  /** An image is named by its content, or two hosts run different ones under one name. */
  readonly digest: `sha256:${string}`;
}

export interface EnvImagesArgs {
  readonly host: RigHost;
  readonly images: readonly EnvImage[];
}

export interface EnvImages {
  /** Images are there and verified. */
  readonly applied: remote.Command;
}
