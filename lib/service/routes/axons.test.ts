import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Axon, AxonList } from '#lib/contract/axons.ts'
import { sendRaw, startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: 'none' })
afterAll(() => service.close())
const created = new Map<string, Axon>()

const seeds: { name: string | null; metadata?: Record<string, string> }[] = [
  { name: 'build-1', metadata: { env: 'prod', team: 'a b' } },
  { name: 'build-2', metadata: { env: 'staging', team: 'core' } },
  { name: 'Build-3', metadata: { env: 'prod', team: 'core' } },
  { name: 'b%_\\x', metadata: { 'key,with]': 'a,b\\c' } },
  { name: 'büro', metadata: { env: 'dev' } },
  { name: '\u{10ffff}top', metadata: { constructor: 'x', toString: 'y' } },
  { name: null },
]

beforeAll(async () => {
  for (const body of seeds) created.set(String(body.name), await service.client.axons.create({ body }))
  await service.otherClient.axons.create({ body: { name: 'build-other', metadata: { env: 'prod' } } })
})

const list = async (search: string) => {
  const response = await sendRaw(service.url, {
    path: `/v1/axons?${search}`,
    headers: { authorization: `Bearer ${service.key}` },
  })
  return { status: response.status, body: JSON.parse(response.body) }
}
const names = async (search: string) => (await list(search)).body.axons.map(({ name }: Axon) => name)
const idOf = (name: string) => created.get(name)?.id ?? ''

describe('GET /v1/axons', () => {
  it('200 lists axons of the account, newest first', async () => {
    const { status, body } = await list('')
    expect(status).toBe(200)
    expect(body).toEqual({ axons: [...created.values()].reverse(), has_more: false, total_count: seeds.length })
  })

  it.each([
    ['a name prefix', 'name=build', ['build-2', 'build-1']],
    ['a name prefix in a different case', 'name=Build', ['Build-3']],
    ['wildcard characters in a name', 'name=b%25_%5C', ['b%_\\x']],
    ['SQL in a name', "name='%20or%201=1--", []],
    ['an empty name, ignored', 'name=&limit=2', [null, '\u{10ffff}top']],
    ['a pair encoded as by the public clients', 'metadata%5Bteam%5D=a%20b', ['build-1']],
    ['any of several values', 'metadata[env][in]=dev,staging', ['büro', 'build-2']],
    ['a list with escapes', 'metadata[key,with%5D][in]=a%5C,b%5C%5Cc,z', ['b%_\\x']],
    ['keys of Object.prototype', 'metadata[constructor]=x&metadata[toString]=y', ['\u{10ffff}top']],
  ])('200 filters by %s', async (_, search, expected) => {
    expect(await names(search)).toEqual(expected)
  })

  it('200 searches a substring of an id and filters by a whole id', async () => {
    expect(await names(`search=${idOf('büro').slice(-8).toUpperCase()}`)).toEqual(['büro'])
    expect(await names(`id=${idOf('büro')}`)).toEqual(['büro'])
    expect(await names(`id=${idOf('büro').slice(0, -1)}`)).toEqual([])
    expect(await names('id=axn_unknown')).toEqual([])
  })

  it.each([
    ['limit=-1', 'limit'],
    ['id=dbx_1', 'id'],
    ['starting_after=axn_unknown', 'starting_after'],
    [`search=${'a'.repeat(8000)}`, 'search'],
    ['metadata[]=x', 'metadata[]'],
  ])('400 on %s names the field', async (search, field) => {
    const { status, body } = await list(search)
    expect({ status, code: body.code, field: body.field }).toEqual({ status: 400, code: 'invalid_argument', field })
    expect(body.message.startsWith(`${field}: `)).toBe(true)
  })
})

describe('paging', () => {
  it('neither loses nor repeats axons that are created and deleted meanwhile', async () => {
    const name = 'paged-'
    const expected: string[] = []
    for (let i = 0; i < 8; i++)
      expected.unshift(
        (await service.client.axons.create({ body: { name: `${name}${i}`, metadata: { page: 'yes' } } })).id,
      )
    for (const filter of [`name=${name}`, 'metadata[page]=yes', 'metadata[page][in]=yes,no', 'search=paged']) {
      const seen: string[] = []
      const sizes: number[] = []
      for (let cursor = '', more = true; more; cursor = seen.at(-1) ?? '') {
        const page: AxonList = (await list(`${filter}&limit=3&starting_after=${cursor}`)).body
        seen.push(...page.axons.map(({ id }) => id))
        sizes.push(page.axons.length)
        more = page.has_more
        const passing = await service.client.axons.create({ body: { name: `${name}later`, metadata: { page: 'yes' } } })
        await service.client.axons.delete({ params: { id: passing.id } })
      }
      expect(sizes.at(0)).toBe(3)
      expect(seen.slice(-expected.length)).toEqual(expected)
      expect(new Set(seen).size).toBe(seen.length)
    }
  })
})

describe('POST /v1/axons', () => {
  it('200 preserves any key and text', async () => {
    const metadata = JSON.parse(
      '{"__proto__":"p","constructor":"c","hasOwnProperty":"h","":"empty","a.b[c]":"]","\\u0000":"nul","😀":"\\u2028"}',
    )
    const name = '<img onerror=x>\r\n\u202egpj\u0000.😀'
    const { id } = await service.client.axons.create({ body: { name, metadata } })
    const axon = await service.client.axons.get({ params: { id } })
    expect(axon.name).toBe(name)
    expect(Object.entries(axon.metadata)).toEqual(Object.entries(metadata))
    expect((await list('metadata[__proto__]=p')).body.axons).toHaveLength(1)
    expect(({} as Record<string, unknown>).p).toBeUndefined()
  })
})

describe('the process that reads lists', () => {
  /** Started by the service of this test; runs no user SQL here. */
  const pid = () => {
    const found = readdirSync('/proc').find((each) => {
      try {
        return readFileSync(join('/proc', each, 'cmdline'), 'utf8').includes(`axon-sql/process.ts\0${service.dataDir}`)
      } catch {
        // Not a process, or exited.
        return false
      }
    })
    return Number(found)
  }

  it('blocks no other request, and includes axons created before the request', async () => {
    await list('limit=1')
    const reader = pid()
    process.kill(reader, 'SIGSTOP')
    try {
      const { id } = await service.client.axons.create({ body: { name: 'while stopped' } })
      const listing = names('limit=1')
      expect(await service.client.axons.get({ params: { id } })).toMatchObject({ id })
      process.kill(reader, 'SIGCONT')
      expect(await listing).toEqual(['while stopped'])
    } finally {
      process.kill(reader, 'SIGCONT')
    }
  })
})

describe('GET and DELETE /v1/axons/{id}', () => {
  it('200 marks the axon as deleted and keeps the first time', async () => {
    const { id } = await service.client.axons.create({ body: { name: 'short-lived' } })
    expect(await service.client.axons.delete({ params: { id } })).toEqual({})
    const first = await service.client.axons.get({ params: { id } })
    expect(first.deleted_at_ms).toBeGreaterThanOrEqual(first.created_at_ms)
    expect(await service.client.axons.delete({ params: { id } })).toEqual({})
    expect(await service.client.axons.get({ params: { id } })).toEqual(first)
    expect((await list('name=short-lived')).body).toMatchObject({ axons: [first], total_count: 1 })
  })

  it('404 on an unknown ID and one of another account', async () => {
    const { id } = await service.otherClient.axons.create({ body: { name: 'theirs' } })
    for (const each of ['axn_unknown', id]) {
      await expect(service.client.axons.get({ params: { id: each } })).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
      })
      expect(await statusOf(service.client.axons.delete({ params: { id: each } }))).toBe(404)
    }
    expect(await service.otherClient.axons.get({ params: { id } })).toMatchObject({ deleted_at_ms: null })
    expect(await names('name=theirs')).toEqual([])
    expect(await names(`id=${id}`)).toEqual([])
    expect(await names(`search=${id}`)).toEqual([])
  })
})

describe('POST /v1/axons/{id}', () => {
  const update = (id: string, body: object) => service.client.axons.update({ params: { id }, body })

  it('200 replaces all metadata, also in filters', async () => {
    const { id } = await service.client.axons.create({ body: { name: 'changing', metadata: { was: 'a', both: 'b' } } })
    const metadata = JSON.parse('{"both":"b","__proto__":"p","is":"a,b"}')
    const changed = await update(id, { metadata })
    expect(Object.entries(changed.metadata)).toEqual(Object.entries(metadata))
    expect(await service.client.axons.get({ params: { id } })).toEqual(changed)
    expect(await names('metadata[was]=a')).toEqual([])
    expect(await names('metadata[both]=b&metadata[is]=a,b')).toEqual(['changing'])
  })

  it('200 keeps missing and null metadata and clears empty metadata', async () => {
    const created = await service.client.axons.create({ body: { metadata: { keep: 'me' } } })
    const { id } = created
    expect(await update(id, {})).toEqual(created)
    expect(await update(id, { metadata: null })).toEqual(created)
    expect(await update(id, { metadata: {} })).toMatchObject({ metadata: {} })
    expect((await list('metadata[keep]=me')).body).toMatchObject({ axons: [], total_count: 0 })
  })

  it('400 on invalid metadata, 404 on an unknown axon, 409 on a deleted one', async () => {
    const { id } = await service.client.axons.create()
    await expect(update(id, { metadata: { a: 1 } })).rejects.toMatchObject({ status: 400, field: 'metadata' })
    await service.client.axons.delete({ params: { id } })
    await expect(update(id, { metadata: {} })).rejects.toMatchObject({ status: 409, code: 'conflict' })
    expect(await statusOf(update('axn_unknown', {}))).toBe(404)
  })
})

describe('GET /v1/axons/metadata/keys', () => {
  it('200 lists sorted keys and values of the account', async () => {
    await service.client.axons.create({ body: { metadata: { 'a/b ü': 'second' } } })
    const { id } = await service.client.axons.create({ body: { metadata: { 'a/b ü': 'first' } } })
    await service.client.axons.delete({ params: { id } })
    await service.otherClient.axons.create({ body: { metadata: { theirs: 'x', env: 'theirs' } } })
    const { keys } = await service.client.axons.metadataKeys()
    expect(keys).toEqual([...keys].sort())
    expect(keys).toEqual(expect.arrayContaining(['a/b ü', 'env', 'team']))
    expect(keys).not.toContain('theirs')
    const valuesOf = (key: string) => service.client.axons.metadataValues({ params: { key } })
    expect(await valuesOf('a/b ü')).toEqual({ key: 'a/b ü', values: ['first', 'second'] })
    expect(await valuesOf('env')).toEqual({ key: 'env', values: ['dev', 'prod', 'staging'] })
    expect(await valuesOf('theirs')).toEqual({ key: 'theirs', values: [] })
  })
})
