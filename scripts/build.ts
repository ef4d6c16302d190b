import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundleTerminal } from './terminal-bundle.ts'

/** All that `npm start` needs: the console by Next, and the script of terminals beside it. */
const root = join(import.meta.dirname, '..')
const next = spawn(process.execPath, [join(root, 'node_modules/next/dist/bin/next'), 'build'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => next.kill())
const [code] = await once(next, 'exit')
if (code === 0) await bundleTerminal(root)
else process.exitCode = 1
