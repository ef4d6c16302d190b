import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { SharedStore } from './shared-store.ts'
import { hasPostgres, startPostgres, type TestPostgres } from './testing-postgres.ts'

let postgres: TestPostgres
const opened: SharedStore[] = []
let n = 0

const openConsole = async (name = 'notes', file?: string, url = postgres.url) => {
  const store = new SharedStore(url, `http://console-${++n}`)
  opened.push(store)
  await store.open()
  const database = new DatabaseSync(':memory:')
  database.exec(
    'CREATE TABLE notes (account TEXT, id TEXT, text TEXT, size INTEGER, PRIMARY KEY (account, id)) WITHOUT ROWID',
  )
  store.attach(name, database, file)
  const put = (id: string, text: string | null, size = 1) =>
    database.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)').run('a', id, text, size)
  const all = () => database.prepare('SELECT id, text, size FROM notes ORDER BY id').all()
  const led = { times: 0, steppedDown: 0 }
  const join = () => store.join({ onLead: () => led.times++, onStepDown: () => led.steppedDown++ })
  return { store, database, put, all, led, join }
}

describe.skipIf(!hasPostgres)('the shared store (needs PostgreSQL)', () => {
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
  })
  afterAll(() => postgres.remove())

  it('shows changes of one console on the other, and after a restart', async () => {
    const [a, b] = [await openConsole(), await openConsole()]
    b.join()
    a.put('1', 'first')
    a.put('2', 'with "quotes", null \u0000 and ünicode', 2 ** 40)
    a.put('3', null)
    await a.store.stored()
    await vi.waitFor(() => expect(b.all()).toEqual(a.all()))
    a.database.exec("DELETE FROM notes WHERE id = '1'; UPDATE notes SET id = '4' WHERE id = '3'")
    await a.store.stored()
    await vi.waitFor(() => expect(b.all().map(({ id }) => id)).toEqual(['2', '4']))
    const c = await openConsole()
    expect(c.all()).toEqual(a.all())
  })

  it('agrees on a row that two consoles change at once', async () => {
    const [a, b] = [await openConsole('both'), await openConsole('both')]
    a.put('1', 'of a')
    b.put('1', 'of b')
    await Promise.all([a.store.stored(), b.store.stored()])
    await Promise.all([a.store.catchUp(), b.store.catchUp()])
    expect(a.all()).toEqual(b.all())
  })

  it('keeps a later change of another console that it receives before its own is confirmed', async () => {
    const line = await openLine()
    onTestFinished(line.close)
    const [a, b] = [await openConsole('late', undefined, line.url), await openConsole('late')]
    a.put('1', 'of a')
    const commit = line.holdAnswerTo('COMMIT')
    const stored = a.store.stored()
    await commit.held
    b.put('1', 'of b')
    await b.store.stored()
    await a.store.catchUp()
    commit.release()
    await stored
    expect(a.all()).toEqual([{ id: '1', text: 'of b', size: 1 }])
  })

  it('stores a change later whose connection is lost between two queries', async () => {
    const line = await openLine()
    onTestFinished(line.close)
    const a = await openConsole('lost', undefined, line.url)
    a.put('1', 'kept')
    const begin = line.holdAnswerTo('BEGIN')
    const stored = expect(a.store.stored()).rejects.toThrow()
    await begin.held
    await postgres.endConnections('BEGIN')
    await begin.ended
    begin.release()
    await stored
    await a.store.stored()
    expect((await openConsole('lost')).all()).toEqual(a.all())
  })

  it('stores what a console writes as it closes its databases', async () => {
    const a = await openConsole('closing')
    a.put('1', 'last')
    a.database.close()
    await a.store.stored()
    const b = await openConsole('closing')
    expect(b.all()).toEqual([{ id: '1', text: 'last', size: 1 }])
  })

  it('imports the data folder of the first console', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'devdeck-import-'))
    const file = join(folder, 'notes.sqlite')
    const old = new DatabaseSync(file)
    old.exec(`CREATE TABLE notes (account TEXT, id TEXT, text TEXT, PRIMARY KEY (account, id));
      INSERT INTO notes VALUES ('a', '1', 'kept')`)
    old.close()
    const a = await openConsole('imported', file)
    await a.store.stored()
    const b = await openConsole('imported')
    expect(b.all()).toEqual([{ id: '1', text: 'kept', size: null }])
    rmSync(folder, { recursive: true })
  })

  it('has one leader, and another as soon as that leaves', async () => {
    const [a, b] = [await openConsole('led'), await openConsole('led')]
    a.join()
    await vi.waitFor(() => expect(a.store.leads).toBe(true))
    b.join()
    await vi.waitFor(() => expect(b.store.leaderUrl).toMatch(/^http:\/\/console-/))
    expect(b.store.leads).toBe(false)
    await a.store.leave()
    await vi.waitFor(() => expect(b.store.leads).toBe(true))
    expect([a.led, b.led]).toEqual([
      { times: 1, steppedDown: 0 },
      { times: 1, steppedDown: 0 },
    ])
  })

  it("shares the first console's secret with all consoles", async () => {
    const [a, b] = [await openConsole(), await openConsole()]
    expect(await a.store.secret('test', 'first')).toBe('first')
    expect(await b.store.secret('test', 'second')).toBe('first')
  })

  it('confirms a change without waiting for later changes of other consoles', async () => {
    const a = await openConsole('busy')
    let isBusy = true
    const writing = (async () => {
      for (let i = 0; isBusy; i++) {
        a.put(`busy-${i % 100}`, `${i}`)
        await setImmediate()
      }
    })()
    a.put('1', 'own')
    await a.store.stored().finally(() => {
      isBusy = false
    })
    await writing
    const b = await openConsole('busy')
    expect(b.all()).toContainEqual({ id: '1', text: 'own', size: 1 })
  })

  it('replaces a leader that hangs, which steps down once it is back', async () => {
    const script = `
      import { SharedStore } from '#lib/gateway/store/shared-store.ts'
      const store = new SharedStore(${JSON.stringify(postgres.url)}, 'http://hanging')
      await store.open()
      store.join({ onLead: () => console.log('leads'), onStepDown: () => console.log('stepped down') })`
    const hanging = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '../../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    hanging.stdout.on('data', (chunk) => {
      printed += chunk
    })
    try {
      await vi.waitFor(() => expect(printed).toContain('leads'), 20_000)
      const b = await openConsole('hanging')
      b.join()
      await vi.waitFor(() => expect(b.store.leaderUrl).toBe('http://hanging'), 5_000)
      hanging.kill('SIGSTOP')
      await vi.waitFor(() => expect(b.store.leads).toBe(true), 20_000)
      hanging.kill('SIGCONT')
      await vi.waitFor(() => expect(printed).toContain('stepped down'), 20_000)
      expect(b.store.leads).toBe(true)
    } finally {
      hanging.kill('SIGKILL')
    }
  }, 60_000)

  it('keeps changes while PostgreSQL is down, and stores them later', async () => {
    const [a, b] = [await openConsole('down'), await openConsole('down')]
    a.join()
    b.join()
    await postgres.stop()
    a.put('1', 'meanwhile')
    await expect(a.store.stored()).rejects.toThrow()
    expect(a.store.problem).toBeTypeOf('string')
    expect(a.all()).toHaveLength(1)
    await postgres.start()
    await vi.waitFor(() => expect(b.all()).toEqual(a.all()), 5_000)
    expect(a.store.problem).toBeUndefined()
  })
})

/** A connection to the server that can hold the response to a query. */
const openLine = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-line-'))
  let query: string | undefined
  const held = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const server = createServer((near) => {
    const far = connect(join(postgres.folder, '.s.PGSQL.5432'))
    let isHeld = false
    const chunks: Buffer[] = []
    const drop = () => far.destroyed && near.destroy()
    near.on('error', () => undefined).on('close', () => far.destroy())
    far.on('error', () => undefined).on('close', () => isHeld || drop())
    near.on('data', (chunk) => {
      if (query !== undefined && chunk.includes(query)) {
        isHeld = true
        query = undefined
      }
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (!isHeld) return near.write(chunk)
      if (chunks.push(chunk) > 1) return
      held.resolve()
      void released.promise.then(() => {
        isHeld = false
        near.write(Buffer.concat(chunks), drop)
      })
    })
    far.on('end', () => isHeld && ended.resolve())
  }).listen(join(folder, '.s.PGSQL.5432'))
  await once(server, 'listening')
  return {
    url: `postgres://devdeck@localhost/postgres?host=${encodeURIComponent(folder)}`,
    /** `ended` resolves when the server closes the connection. */
    holdAnswerTo(text: string) {
      query = text
      return { held: held.promise, ended: ended.promise, release: () => released.resolve() }
    },
    async close() {
      server.close()
      await once(server, 'close')
      rmSync(folder, { recursive: true })
    },
  }
}
