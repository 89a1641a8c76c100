// Runs one WASI module (preview 1) inside Node. The first word is what Harn decided: the module, its directories, its name; the
// rest are the module's own. Its variables come with a prefix, so that none of them means anything to Node itself.
'use strict';
const { WASI } = require('node:wasi');
const { readFileSync } = require('node:fs');
const plan = JSON.parse(process.argv[1]);
const env = {};
for (const [name, value] of Object.entries(process.env)) if (name.startsWith('GUEST_')) env[name.slice(6)] = value;
const give_up = (code, why) => { process.stderr.write(`harn: ${why}\n`); process.exit(code); };
let wasi, instance;
try {
  wasi = new WASI({ version: 'preview1', args: [plan.name, ...process.argv.slice(2)], env, preopens: plan.preopens, returnOnExit: true });
  instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(plan.module)), wasi.getImportObject());
} catch (error) { give_up(126, `the module cannot be started: ${error.message}`); }
try { process.exitCode = wasi.start(instance); } catch (error) { give_up(134, `the module ended by a trap: ${error.message}`); }
