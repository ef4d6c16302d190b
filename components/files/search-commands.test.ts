import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import {
  maxNames,
  runSearch,
  type SearchQuery,
  SearchReader,
  type SearchResults,
  searchCommand,
} from './search-commands.ts'

let service: TestService
let id: string
beforeAll(async () => {
  service = await startService()
  id = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
})
afterAll(() => service.close())

const sh = async (command: string) => {
  const answer = await service.client.executions.executeSync({ params: { id }, body: { command } })
  expect(answer.stderr).toBe('')
  return answer.stdout
}

const names: SearchQuery = {
  kind: 'names',
  folder: '~',
  text: '',
  includesHidden: false,
  matchesCase: false,
  isRegex: false,
  glob: '',
}
const contents: SearchQuery = { ...names, kind: 'contents' }

const search = async (query: SearchQuery, signal = new AbortController().signal) => {
  let results: SearchResults | undefined
  const end = await runSearch(id, query, { api: service.client, signal, onResults: (next) => (results = next) })
  return { ...(results as SearchResults), ...end }
}
/** Paths below the folder searched. */
const found = async (query: SearchQuery) => {
  const home = (await sh('echo $HOME')).trim()
  return (await search(query)).files.map(({ path }) => path.replace(`${home}/`, '')).sort()
}

describe('a search for names', () => {
  it('finds files and folders below a folder, by part of the name, pattern or path', async () => {
    await sh(
      'mkdir -p tree/Deep/er .cache "tree/[id]"; touch tree/Deep/er/page.tsx tree/[id]/page.tsx .cache/page.tsx tree/.page',
    )
    expect(await found({ ...names, text: 'PAGE' })).toEqual(['tree/Deep/er/page.tsx', 'tree/[id]/page.tsx'])
    expect(await found({ ...names, text: 'PAGE', matchesCase: true })).toEqual([])
    expect(await found({ ...names, text: 'page', includesHidden: true })).toHaveLength(4)
    expect(await found({ ...names, text: '[id]' })).toEqual(['tree/[id]'])
    expect(await found({ ...names, text: 'er/page' })).toEqual(['tree/Deep/er/page.tsx'])
    expect(await found({ ...names, text: 'd?ep' })).toEqual(['tree/Deep'])
    expect(await found({ ...names, folder: 'tree/[id]', text: 'page' })).toEqual(['tree/[id]/page.tsx'])
  })

  it('finds hostile names, runs none of them, and survives link loops', async () => {
    await sh(
      `mkdir -p odd && cd odd && touch -- -rf "it's" $'new\\nline' '$(touch pwned)' ';touch pwned' $'a\\xffb' $'\\u202ertl' && ln -s . loop`,
    )
    const all = ['$(touch pwned)', '-rf', ';touch pwned', 'a\udcffb', "it's", 'loop', 'new\nline', '\u202ertl']
    expect(
      (await found({ ...names, folder: 'odd', text: '*' })).map((path) => path.replace('odd/', '')).sort(),
    ).toEqual(all.sort())
    for (const text of [...all, "' ; touch pwned '", '-exec touch pwned ;', '$(touch pwned)', '`touch pwned`', '\\'])
      for (const kind of ['names', 'contents'] as const)
        await search({ ...names, kind, folder: 'odd', text, glob: text })
    expect(await sh('find . -name pwned')).toBe('')
  })

  it('shows the first of many and counts the rest', async () => {
    await sh(`mkdir crowd && cd crowd && seq 1 ${maxNames + 250} | sed 's/^/one-/' | xargs touch`)
    const { files, total, isMore } = await search({ ...names, text: 'one-' })
    expect([files.length, total, isMore]).toEqual([maxNames, maxNames + 250, false])
    await sh("cd crowd && seq 1 12000 | sed 's/^/two-/' | xargs touch")
    expect(await search({ ...names, text: 'two-' })).toMatchObject({ total: 10_000, isMore: true })
  })

  it('leaves out system folders, and fails with a plain message', async () => {
    const { files } = await search({ ...names, folder: '/', text: 'cpuinfo' })
    expect(files.filter(({ path }) => path.startsWith('/proc'))).toEqual([])
    await expect(search({ ...names, folder: '/none', text: 'x' })).rejects.toThrow(/^No such file or directory$/)
  })
})

describe('a search of contents', () => {
  it('returns lines by file, for literal text and regular expressions', async () => {
    await sh(
      `mkdir -p code/.git && cd code && printf 'a.b\\nTODO one\\n\\n  todo: two\\n' >x.ts && printf 'axb' >y.md && printf 'todo\\0' >bin && echo todo >.git/z && (head -c 2100000 /dev/zero | tr '\\0' ' '; echo todo) >huge`,
    )
    const lines = async (part: Partial<SearchQuery>) => {
      const { files } = await search({ ...contents, folder: 'code', ...part })
      return files.flatMap(({ path, lines }) =>
        lines.map(({ line, text }) => `${path.replace(/.*\//, '')}:${line}:${text}`),
      )
    }
    expect(await lines({ text: 'todo' })).toEqual(['x.ts:2:TODO one', 'x.ts:4:  todo: two'])
    expect(await lines({ text: 'todo', matchesCase: true })).toEqual(['x.ts:4:  todo: two'])
    expect(await lines({ text: 'a.b' })).toEqual(['x.ts:1:a.b'])
    expect((await lines({ text: '^a.b$', isRegex: true })).sort()).toEqual(['x.ts:1:a.b', 'y.md:1:axb'])
    expect(await lines({ text: 'a.b', isRegex: true, glob: '*.md' })).toEqual(['y.md:1:axb'])
    expect(await lines({ text: 'todo', includesHidden: true })).toContain('z:1:todo')
    await expect(lines({ text: '(', isRegex: true })).rejects.toThrow(/[Uu]nmatched/)
    await expect(search({ ...contents, folder: '/proc/self', text: 'x' })).rejects.toThrow('system files')
  })

  it('stops in the devbox when it is canceled', async () => {
    await sh('mkdir slow && cd slow && mkfifo never && seq 1 200 | xargs touch')
    const controller = new AbortController()
    // Reading a pipe without a writer would block the search.
    const running = search({ ...contents, folder: 'slow', text: 'x' }, controller.signal)
    expect((await running).total).toBe(0)
    const endless = search({ ...contents, folder: '/', text: 'zzz', includesHidden: true }, controller.signal)
    controller.abort()
    await expect(endless).rejects.toThrow()
    const processes = async () => await sh("ps -eo args | grep -c '[f]ind \\. .*zzz' || true")
    await expect.poll(processes).toBe('0\n')
  })
})

it.skipIf(!existsSync('/usr/bin/busybox'))('works with the tools of BusyBox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-search-'))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const tool of ['sh', 'find', 'grep', 'cut', 'head', 'base64', 'printf'])
    symlinkSync('/usr/bin/busybox', join(bin, tool))
  mkdirSync(join(folder, 'a'))
  writeFileSync(join(folder, 'a/new\nline'), 'one\nTODO\n')
  const results = (query: SearchQuery) => {
    const command = searchCommand({ ...query, folder: join(folder, 'a') })
    const { stdout, stderr } = spawnSync(join(bin, 'sh'), ['-c', command], { env: { ...process.env, PATH: bin } })
    expect(String(stderr)).toBe('')
    const reader = new SearchReader(query.kind)
    reader.add(String(stdout))
    return reader.results.files
  }
  expect(results({ ...names, text: 'LINE' })).toEqual([{ path: join(folder, 'a/new\nline'), lines: [] }])
  expect(results({ ...contents, text: 'todo' })).toEqual([
    { path: join(folder, 'a/new\nline'), lines: [{ line: 2, text: 'TODO' }] },
  ])
  rmSync(folder, { recursive: true })
})
