import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { hostedOnly } from '#lib/contract/hosted-only.ts'
import type { ServiceConfig } from '#lib/service/config.ts'
import { notImplemented } from '#lib/service/http/implement.ts'
import { createService } from '#lib/service/service.ts'

const hostedOnlyEndpoints = new Set<Endpoint>(Object.values(hostedOnly))

export const printOperations = async (config: ServiceConfig) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-operations-'))
  const service = await createService({ ...config, host: '127.0.0.1', port: 0, dataDir })
  try {
    for (const { endpoint, handler } of service.routes) {
      const state = handler === notImplemented || hostedOnlyEndpoints.has(endpoint) ? '501' : 'ready'
      console.log([state.padEnd(5), endpoint.method.padEnd(6), endpoint.path.padEnd(78), endpoint.id].join(' '))
    }
  } finally {
    await service.close()
    rmSync(dataDir, { recursive: true })
  }
}
