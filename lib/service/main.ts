import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { takeVariable } from '../../scripts/take-variable.ts'

// Files of this process and its children are private to this user.
process.umask(0o077)
// Makes later starts a third faster. Entries are keyed by content, so they never go stale.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/devdeck'))

const main = async () => {
  // Imported after the cache is enabled; each command loads only what it needs.
  const { helpText, readCommandLine } = await import('./cli/command-line.ts')
  const commandLine = readCommandLine(process.argv.slice(2), takeVariable('DEVDECK_API_KEYS'))
  switch (commandLine.command) {
    case 'serve':
      return (await import('./cli/serve.ts')).serve(commandLine)
    case 'operations':
      return (await import('./cli/operations.ts')).printOperations(commandLine)
    case 'keys add':
      return (await import('./cli/keys.ts')).addKey(commandLine)
    case 'keys list':
      return (await import('./cli/keys.ts')).listKeys(commandLine)
    case 'keys revoke':
      return (await import('./cli/keys.ts')).revokeKey(commandLine)
    case 'drain':
      return (await import('./cli/drain.ts')).drain(commandLine)
    case 'import':
      return (await import('./cli/import.ts')).importJob(commandLine)
    case 'environments list':
      return (await import('./cli/environments.ts')).listBuilt(commandLine)
    case 'environments clear':
      return (await import('./cli/environments.ts')).clearBuilt(commandLine)
    case 'recover':
      return (await import('./cli/recover.ts')).recover(commandLine)
    case 'doctor':
      return (await import('./cli/doctor.ts')).doctor(commandLine)
    case 'help':
      return console.log(helpText)
  }
}

main().catch(async (error: unknown) => {
  const { StartError } = await import('./kit/errors.ts')
  console.error(error instanceof StartError ? error.message : error)
  process.exit(1)
})
