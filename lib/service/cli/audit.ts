import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type AuditPosition, readAudit } from '#lib/service/audit/audit-log.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'

const followIntervalMs = 500

/** Prints the audit log as JSON lines. The service may be running or stopped. */
export const printAudit = async ({ dataDir, audit: { sinceMs, follow } }: CommandLine) => {
  if (![databaseName, 'audit'].some((name) => existsSync(join(dataDir, name))))
    throw new StartError(`${dataDir} is not the data folder of a service`)
  const position: AuditPosition = { name: '', bytes: 0 }
  // The reader may close the pipe, for example `| head`.
  process.stdout.on('error', () => process.exit(0))
  do {
    for await (const line of readAudit(dataDir, sinceMs, position))
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
    if (follow) await delay(followIntervalMs)
  } while (follow)
}
