// Which browser drives the editor; apart from the rest, so that it can be asked before anything is installed.
import { existsSync } from 'node:fs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A browser of the machine, or `undefined`. */
export function findChromium() {
  const named = process.env.CHROMIUM ? [process.env.CHROMIUM] : [];
  return [...named, ...NAMES.map((name) => `/usr/bin/${name}`)].find(existsSync);
}
