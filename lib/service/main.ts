import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { takeVariable } from '../../scripts/take-variable.ts'
import type { Command, CommandLine } from './cli/command-line.ts'

// Files of this process and its children are private to this user.
process.umask(0o077)
// Makes later starts a third faster. Entries are keyed by content, so they never go stale.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/devdeck'))

const commands: Record<Command, (line: CommandLine) => Promise<unknown>> = {
  serve: async (line) => (await import('./cli/serve.ts')).serve(line),
  operations: async (line) => (await import('./cli/operations.ts')).printOperations(line),
  'keys add': async (line) => (await import('./cli/keys.ts')).addKey(line),
  'keys list': async (line) => (await import('./cli/keys.ts')).listKeys(line),
  'keys revoke': async (line) => (await import('./cli/keys.ts')).revokeKey(line),
  drain: async (line) => (await import('./cli/drain.ts')).drain(line),
  activate: async (line) => (await import('./cli/drain.ts')).activate(line),
  import: async (line) => (await import('./cli/import.ts')).importJobs(line),
  gate: async (line) => {
    const apiKey = takeVariable('DEVDECK_API_KEY')
    await (await import('./cli/gate.ts')).gate(line, { apiKey, summaryFile: process.env.GITHUB_STEP_SUMMARY })
  },
  prune: async (line) => (await import('./cli/prune.ts')).prune(line),
  audit: async (line) => (await import('./cli/audit.ts')).printAudit(line),
  'environments list': async (line) => (await import('./cli/environments.ts')).listBuilt(line),
  'environments clear': async (line) => (await import('./cli/environments.ts')).clearBuilt(line),
  backup: async (line) => (await import('./cli/backup.ts')).backup(line),
  restore: async (line) => (await import('./cli/backup.ts')).restore(line),
  recover: async (line) => (await import('./cli/recover.ts')).recover(line),
  doctor: async (line) => (await import('./cli/doctor.ts')).doctor(line),
  help: async () => console.log((await import('./cli/command-line.ts')).helpText),
}

const main = async () => {
  // Imported after the cache is enabled; each command loads only what it needs.
  const { readCommandLine } = await import('./cli/command-line.ts')
  const { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, DOCKER_CONFIG, SSH_AUTH_SOCK, HOME } = process.env
  const engineVariables = { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, DOCKER_CONFIG, SSH_AUTH_SOCK, HOME }
  const line = readCommandLine(process.argv.slice(2), takeVariable('DEVDECK_API_KEYS'), {
    engineVariables,
    consoleDataDir: process.env.DEVDECK_DATA_DIR,
  })
  await commands[line.command](line)
}

main().catch(async (error: unknown) => {
  const { StartError } = await import('./kit/errors.ts')
  console.error(error instanceof StartError ? error.message : error)
  // 1 would mean that the gate failed.
  process.exit(process.argv[2] === 'gate' ? 2 : 1)
})
