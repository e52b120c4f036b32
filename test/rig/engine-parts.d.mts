export interface EnginePlugin {
  readonly name: string;
  /** Where the CLI looks for it, relative to the Pulumi home. */
  readonly target: string;
  readonly official: string | undefined;
  readonly standIn: string;
}
export function engineParts(pulumi: string): { readonly version: string; readonly plugins: readonly EnginePlugin[] };
