/** A connected client of ssh2. */
export interface SshClient {
  end(): void;
}
export function dial(connection: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<SshClient>;
export function runCommand(
  client: SshClient,
  command: string,
  stdin: string | undefined,
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void,
): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | undefined; readonly signal: string | undefined }>;
