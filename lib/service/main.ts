import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandLine, helpText, readCommandLine } from './config.ts'
import { StartError } from './data-dir.ts'
import { notImplemented } from './http/implement.ts'
import { createService } from './service.ts'

const main = async () => {
  // Everything this process and its children write is for this user alone.
  process.umask(0o077)
  const commandLine = readCommandLine(process.argv.slice(2))
  if (commandLine.command === 'help') console.log(helpText)
  else if (commandLine.command === 'operations') await printOperations(commandLine)
  else await serve(commandLine)
}

const serve = async (commandLine: CommandLine) => {
  const service = await createService(commandLine)
  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    service.close().then(() => process.exit(0), fail)
  }
  process.on('SIGTERM', stop).on('SIGINT', stop)
  if (commandLine.stopWithParent) process.stdin.on('end', stop).on('error', stop).on('close', stop).resume()
  console.log(`Devdeck service listening on ${service.url} (data in ${commandLine.dataDir})`)
}

/** Lists the contract by a service of its own, so that the list is what callers would meet. */
const printOperations = async (commandLine: CommandLine) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-operations-'))
  const service = await createService({ ...commandLine, host: '127.0.0.1', port: 0, dataDir })
  try {
    for (const { endpoint, handler } of service.routes) {
      const state = handler === notImplemented ? '501' : 'ready'
      console.log([state.padEnd(5), endpoint.method.padEnd(6), endpoint.path.padEnd(78), endpoint.id].join(' '))
    }
  } finally {
    await service.close()
    rmSync(dataDir, { recursive: true })
  }
}

const fail = (error: unknown) => {
  console.error(error instanceof StartError ? error.message : error)
  process.exit(1)
}

main().catch(fail)
