// An editor on a project whose interpreter has PyTorch, so that something can be measured.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EditorServer } from './editorServer.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PYTHON = process.env.DEVICE_LENS_TORCH_PYTHON ?? path.join(ROOT, '.venv', 'bin', 'python');

/**
 * Has an editor run for the tests of a file, with the files of a `workspace` by name. `skip` says why nothing can be
 * measured here, false where PyTorch is at hand; as tests run, `server` is the editor's, and what it measures is kept
 * in the folder `cache`.
 */
export function torchProject(workspace) {
  const project = { skip: missing(), server: undefined, cache: undefined };

  before(async () => {
    if (project.skip) {
      return;
    }
    project.cache = mkdtempSync(path.join(tmpdir(), 'device-lens-cache-'));
    project.server = await EditorServer.start({
      extensions: [process.env.DEVICE_LENS_PACKAGE],
      // Not the user's: a remote window takes settings of this scope from its machine alone.
      machine: { 'deviceLens.projectInterpreter': [PYTHON] },
      workspace,
      environment: { XDG_CACHE_HOME: project.cache },
    });
  });

  after(async () => {
    await project.server?.stop();
    if (project.cache !== undefined) {
      rmSync(project.cache, { recursive: true, force: true });
    }
  });

  return project;
}

/** Why nothing can be measured here, or false where PyTorch is at hand. */
function missing() {
  try {
    execFileSync(PYTHON, ['-c', 'import torch'], { stdio: 'ignore' });
    return false;
  } catch {
    const why = existsSync(PYTHON) ? 'has no torch' : 'does not exist';
    return `${PYTHON} ${why}: set DEVICE_LENS_TORCH_PYTHON`;
  }
}
