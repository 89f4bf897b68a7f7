// Installs the real editor in which `npm run pictures` works.
import { ensureEditor, OLDER } from './lib/editor.mjs';

ensureEditor(OLDER);
