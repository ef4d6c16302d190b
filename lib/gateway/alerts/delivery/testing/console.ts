import { readConfig } from '#lib/gateway/config.ts'
import { startConsole } from '#lib/gateway/testing.ts'
import { startReceivers } from '../../alert-books.ts'
import './short-times.ts'

// A console without pages, as a process that can be killed.
const config = readConfig()
const gateway = await startConsole({ url: config.serviceUrl ?? '' }, config)
const closing = new AbortController()
process.once('SIGTERM', async () => {
  closing.abort()
  await gateway.close()
  process.exit(0)
})
// Ends with the process that started it.
process.stdin.once('end', () => process.exit(1)).resume()
void startReceivers(closing.signal)
console.log(`Devdeck console on ${gateway.url}`)
