// The licences of the libraries that are bundled into the client: each asks that its text goes along.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The package that a bundled file belongs to: `node_modules/NAME` or `node_modules/@SCOPE/NAME`. */
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** One text with the licence of each package among the files that esbuild read. */
export function licencesOf(root, metafiles) {
  const files = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []));
  return [...folders]
    .sort()
    .map((folder) => licenceOf(path.join(root, folder)))
    .join('\n');
}

function licenceOf(folder) {
  const { name, version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) {
    throw new Error(`${name} has no licence to go along with it`);
  }
  const text = readFileSync(path.join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
}
