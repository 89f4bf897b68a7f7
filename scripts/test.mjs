// `npm test`: sets up what the tests need, runs them all, and ends with the runners' own summaries.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed, ROOT, runShown } from './lib/process.mjs';
import { ensureClient, ensureTestTools, PYTHON } from './lib/setup.mjs';
import { bold, green, red } from './lib/terminal.mjs';

const PYTHON_TESTS = ['unit', 'mdtest', 'lsp', 'torch', 'editors', 'distributions', 'fuzz'].map(
  (name) => path.join('tests', name),
);
const GRAMMAR_TEST = path.join('node_modules', 'vscode-tmgrammar-test', 'dist', 'unit.js');
const PYTHON_GRAMMAR = path.join('node_modules', 'tm-grammars', 'grammars', 'python.json');

/** What is run, and which lines of its output are its summary. */
const SUITES = [
  {
    name: 'Python',
    program: PYTHON,
    args: [
      '-m',
      'pytest',
      '-q',
      '-rs',
      '--numprocesses=auto',
      ...PYTHON_TESTS.filter((at) => existsSync(path.join(ROOT, at))),
    ],
    summary: /^((=+ )?(\d+ (passed|failed|skipped|error)|no tests ran)|SKIPPED)/,
  },
  {
    name: 'Client',
    program: process.execPath,
    args: [path.join('scripts', 'testClient.mjs')],
    summary: /^ℹ (tests|pass|fail|skipped) /,
  },
  {
    name: 'Grammars',
    program: process.execPath,
    args: [GRAMMAR_TEST, '-g', PYTHON_GRAMMAR, path.join('tests', 'syntaxes', '*.py')],
    summary: /^[✓✖] /,
  },
  {
    name: 'Real editor',
    program: process.execPath,
    args: [path.join('scripts', 'testWorkbench.mjs')],
    summary: /^(ℹ (tests|pass|fail|skipped) |SKIPPED)/,
  },
];

/** How much of what a runner printed last, which tells why tests failed, is told again in its summary. */
const FAILURE_LINES = 60;

async function runSuite({ name, program, args, summary }) {
  console.log(`\n${bold(`── ${name} ──`)}`);
  const { status, lines } = await runShown(program, args);
  const said = lines.filter((line) => summary.test(line));
  return { name, status, said: status === 0 ? said : [...said, ...lines.slice(-FAILURE_LINES)] };
}

try {
  ensureTestTools();
  ensureClient();
  const outcomes = [];
  for (const suite of SUITES) {
    outcomes.push(await runSuite(suite));
  }
  console.log(`\n${bold('── Summaries of the runners ──')}`);
  for (const { name, status, said } of outcomes) {
    const mark = status === 0 ? green('passed') : red('FAILED');
    console.log(`${name}: ${mark}\n${said.map((line) => `  ${line}`).join('\n')}`);
  }
  process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1;
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
