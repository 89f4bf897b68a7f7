// Runs programs for the scripts: either shown to the user, or quietly with the output kept for a failure.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A program ended with another status than 0, or could not be started. */
export class CommandFailed extends Error {}

/** Runs quietly; throws with everything it printed when it fails. Returns standard output. */
export function runQuietly(program, args, options = {}) {
  const result = spawnSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    shell: needsShell(program),
    ...options,
  });
  if (result.status !== 0) {
    const said = result.error?.message ?? `${result.stdout}${result.stderr}`;
    throw new CommandFailed(`${[program, ...args].join(' ')} failed:\n${said}`);
  }
  return result.stdout;
}

/** Runs with its output passed on as it comes. Resolves to the exit status and the last lines of the output. */
export function runShown(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      stdio: ['inherit', 'pipe', 'pipe'],
      shell: needsShell(program),
      ...options,
    });
    const lines = [];
    for (const [stream, target] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.setEncoding('utf8').on('data', (text) => {
        target.write(text);
        lines.push(...text.split('\n'));
        lines.splice(0, lines.length - 200);
      });
    }
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? 1, lines }));
  });
}

/** Only npm and `code` are scripts on Windows, which Node starts through a shell alone. */
function needsShell(program) {
  return process.platform === 'win32' && /^(npm|code)$/.test(program);
}
