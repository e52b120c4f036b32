// Commands that have no delete, each with the reason. A test fails when a name here is not in the program any more.

export const WAIVERS: Readonly<Record<string, string>> = {
  'host-reachable': 'it waits until the host answers and changes nothing there',
  'nvidia-driver-again': 'it is the apply of nvidia-driver once more after a reboot; that command has the revert',
  'reboot-done': 'it waits for the boot after a reboot and only looks',
};
