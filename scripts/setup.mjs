// Sets up everything that tests and checks need, and runs nothing.
import { CommandFailed } from './lib/process.mjs';
import { ensureClient, ensureTestTools } from './lib/setup.mjs';

try {
  ensureTestTools();
  ensureClient();
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
