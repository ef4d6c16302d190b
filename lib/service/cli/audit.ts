import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type AuditPosition, readAudit } from '#lib/service/audit/audit-log.ts'
import type { CommandLine } from './command-line.ts'

const followIntervalMs = 500

/** Prints the audit log as JSON lines. The service may be running or stopped. */
export const printAudit = async ({ dataDir, audit: { sinceMs, follow } }: CommandLine) => {
  const position: AuditPosition = { name: '', bytes: 0 }
  // The reader may close the pipe, for example `| head`.
  process.stdout.on('error', () => process.exit(0))
  do {
    for await (const line of readAudit(dataDir, sinceMs, position))
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
    if (follow) await delay(followIntervalMs)
  } while (follow)
}
