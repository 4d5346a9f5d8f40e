'use strict';
// Finds spyre-lsp-server.

const path = require('path');

const NAME = 'spyre-lsp-server';
/** Profiles of cargo, the one that is best for an editor first. */
const PROFILES = ['release', 'checked', 'debug'];

/** Returns a path of the settings with its placeholders replaced. */
function expandPath(text, { folders, home }) {
  const folder = folders[0] || '';
  return text.replaceAll('${workspaceFolder}', folder).replace(/^~(?=$|\/)/, home);
}

/**
 * Returns the path of the server, or an error that says where it was looked for.
 *
 * `setting` is `spyre.serverPath`, `installed` the path that `cargo xtask install` noted, `folders` are those of the workspace, `search` is
 * `PATH`, and `isFile` tells whether a file exists.
 */
function resolveServer({ setting, installed, folders, search, home, isFile }) {
  if (setting) {
    const given = expandPath(setting, { folders, home });
    if (isFile(given)) return { path: given };
    return { error: `expected the language server at '${given}', found no file; correct the setting 'spyre.serverPath'` };
  }
  const built = folders.flatMap((folder) => PROFILES.map((profile) => path.join(folder, 'target', profile, NAME)));
  const onPath = (search || '').split(path.delimiter).filter(Boolean).map((folder) => path.join(folder, NAME));
  const found = [...(installed ? [installed] : []), ...built, ...onPath].find(isFile);
  if (found) return { path: found };
  return { error: `expected '${NAME}' in 'target' of the workspace or on PATH, found none; build it, or set 'spyre.serverPath'` };
}

module.exports = { NAME, expandPath, resolveServer };
