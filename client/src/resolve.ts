/** Decides how the language server is started, given what was found. No effects. */
import * as path from 'node:path';

/** Where the server's code lies. */
export type Installation =
  /** Inside the packed extension: any Python runs `launcher`, which puts the bundled libraries first. */
  | { readonly kind: 'bundled'; readonly launcher: string }
  /** A checkout of the repository: the Python of its own environment has the server installed. */
  | { readonly kind: 'checkout'; readonly python: string }
  | { readonly kind: 'missing' };

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Never a folder of the user's: the server must not lock it, nor import from it. */
  readonly cwd: string;
}

/** Looks for the server in the extension's folder, with `exists` to ask the disk. */
export function locateServer(
  extensionPath: string,
  exists: (file: string) => boolean,
  platform: NodeJS.Platform = process.platform,
): Installation {
  const launcher = path.join(extensionPath, 'bundled', 'launch.py');
  const inside = platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  const python = path.join(extensionPath, '.venv', ...inside);
  // A checkout in which someone packed the extension has both: there the source is what is being worked on.
  if (exists(python) && exists(path.join(extensionPath, 'server', 'pyproject.toml'))) {
    return { kind: 'checkout', python };
  }
  return exists(launcher) ? { kind: 'bundled', launcher } : { kind: 'missing' };
}

/**
 * The command line of the server. `python` is the interpreter that was found, `undefined` in a checkout.
 *
 * `-I` keeps `PYTHONPATH`, the user's site-packages and the current folder out, so that nothing of the user's can
 * shadow a library of the server's; `-S`, which a checkout cannot have, keeps out the site-packages and `.pth` files of
 * that Python as well; `-X utf8` makes the encoding of files independent of the locale.
 */
export function resolveServer(
  installation: Exclude<Installation, { kind: 'missing' }>,
  python: readonly string[],
  extensionPath: string,
): Launch {
  const isolated = ['-I', '-X', 'utf8'];
  const serve = ['serve', '--stdio'];
  if (installation.kind === 'checkout') {
    const args = [...isolated, '-m', 'device_lens', ...serve];
    return { command: installation.python, args, cwd: extensionPath };
  }
  const [command, ...before] = python;
  if (command === undefined) {
    throw new Error('a bundled server needs an interpreter');
  }
  const args = [...before, ...isolated, '-S', installation.launcher, ...serve];
  return { command, args, cwd: extensionPath };
}
