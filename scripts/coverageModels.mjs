// `npm run coverage:models`: which PyTorch functions have a model, and which were compared with PyTorch by running it.
// Options are passed on: `-- --verbose`, `-- --emulation FOLDER`, `-- torch.add`.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { CommandFailed, ROOT } from './lib/process.mjs';
import { announce, ensureServer, PYTHON } from './lib/setup.mjs';

const NEEDED = ['torch', 'numpy', 'expecttest'];

function python(...args) {
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, 'server') };
  return spawnSync(PYTHON, args, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1;
}

function ensureTorch() {
  if (python('-c', `import ${NEEDED.join(', ')}`) !== 0) {
    announce('Installing PyTorch, to compare with');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    if (python(...pip, 'torch==2.13.0', 'numpy', 'expecttest') !== 0) {
      throw new CommandFailed('PyTorch could not be installed into .venv');
    }
  }
}

try {
  ensureServer();
  ensureTorch();
  process.exitCode = python(
    path.join('server', 'tools', 'verify_models.py'),
    ...process.argv.slice(2),
  );
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
