'use strict';
// Where the extension looks for its server.

const assert = require('assert');
const { resolveServer } = require('../../editors/vscode/server');

const find = (given, ...files) => resolveServer({
  setting: '', installed: '', folders: ['/w'], search: '/usr/bin:/opt/bin', home: '/home/me', isFile: (file) => files.includes(file), ...given,
});
const NAME = 'spyre-lsp-server';

assert.deepStrictEqual(find({ setting: '~/s' }, '/home/me/s'), { path: '/home/me/s' });
assert.deepStrictEqual(find({ setting: '${workspaceFolder}/a b/s' }, '/w/a b/s'), { path: '/w/a b/s' });
const wrong = find({ setting: '/no/s' }, `/usr/bin/${NAME}`);
assert.match(wrong.error, /found no file; correct the setting 'spyre\.serverPath'/);
assert.match(wrong.error, /'\/no\/s'/);
const all = ['/p/bin/s', `/w/target/release/${NAME}`, `/w/target/debug/${NAME}`, `/opt/bin/${NAME}`];
for (let known = 0; known < all.length; known += 1) {
  assert.deepStrictEqual(find({ installed: '/p/bin/s' }, ...all.slice(known)), { path: all[known] });
}
assert.deepStrictEqual(find({ folders: [] }, `/opt/bin/${NAME}`), { path: `/opt/bin/${NAME}` });
assert.match(find({}).error, /found none; build it, or set 'spyre\.serverPath'/);
console.log('ok');
