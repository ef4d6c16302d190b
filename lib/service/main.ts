import { helpText, readCommandLine } from './command-line.ts'
import { StartError } from './data-dir.ts'

const main = async () => {
  // Everything this process and its children write is for this user alone.
  process.umask(0o077)
  const commandLine = readCommandLine(process.argv.slice(2), process.env)
  // Each command loads what it needs when it is asked for.
  switch (commandLine.command) {
    case 'serve':
      return (await import('./commands/serve.ts')).serve(commandLine)
    case 'operations':
      return (await import('./commands/operations.ts')).printOperations(commandLine)
    case 'keys add':
      return (await import('./commands/keys.ts')).addKey(commandLine)
    case 'keys list':
      return (await import('./commands/keys.ts')).listKeys(commandLine)
    case 'keys revoke':
      return (await import('./commands/keys.ts')).revokeKey(commandLine)
    case 'drain':
      return (await import('./commands/drain.ts')).drain(commandLine)
    case 'doctor':
      return (await import('./commands/doctor.ts')).doctor(commandLine)
    case 'help':
      return console.log(helpText)
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof StartError ? error.message : error)
  process.exit(1)
})
