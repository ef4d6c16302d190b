import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Database, openDatabase } from '#lib/service/store/database.ts'
import { createEvictionStore } from '#lib/service/store/evictions.ts'
import { Evictions } from './evictions.ts'

let folder: string
let database: Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-evictions-'))
  database = openDatabase(join(folder, 'devdeck.db'))
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

it('sends all pending evictions to a new watch', async () => {
  const evictions = new Evictions(createEvictionStore(database), () => undefined)
  const ids = Array.from({ length: 5_000 }, (_, n) => `dbx_${n}`)
  const announce = (devbox_id: string) => evictions.announce('acc', { devbox_id, eviction_deadline_ms: Date.now() })
  for (const id of ids) announce(id)
  const leaving = new AbortController()
  const seen: string[] = []
  for await (const { devbox_id } of evictions.watch('acc', leaving.signal)) {
    seen.push(devbox_id)
    if (seen.length === ids.length) announce('dbx_new')
    if (seen.length > ids.length) leaving.abort()
  }
  expect(seen).toEqual([...ids, 'dbx_new'])
  evictions.close()
})
