// `npm run package`: packs the universal .vsix and checks that what is in it runs.
import { statSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed } from './lib/process.mjs';
import { announce } from './lib/setup.mjs';
import { checkPackage, PACKAGE, packExtension } from './lib/vsix.mjs';

/** The most that the package may weigh, in bytes. */
const LARGEST = 3_000_000;

try {
  packExtension();
  const { size } = statSync(PACKAGE);
  if (size > LARGEST) {
    throw new CommandFailed(`The package has ${size} bytes, more than ${LARGEST}.`);
  }
  announce('Starting the packed server in a hostile environment');
  const name = await checkPackage();
  console.log(`${path.basename(PACKAGE)}: ${(size / 1e6).toFixed(2)} MB, answers as ${name}`);
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
