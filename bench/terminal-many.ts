import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '#e2e/product.ts'
import type { TerminalNotice } from '#lib/protocol/terminals.ts'
import { prompt, Reader, toCat } from './terminal-reader.ts'
import { newName, openPage } from './terminal-targets.ts'

interface Way {
  product: Product
  devboxId: string
  cookie: string
}

/** Reconnects repeatedly while a shell counts, each time at the last byte. Returns whether the output is complete. */
export const reconnects = async ({ product, devboxId, cookie }: Way, times: number) => {
  const session = newName()
  const last = 300_000
  const hash = createHash('sha256')
  let place: { epoch: string; since: number } | undefined
  let isCounting = false
  let text = ''
  let snapshots = 0
  let isDone = false
  const connect = async () => {
    const query: Record<string, string> = place ? { epoch: place.epoch, since: `${place.since}` } : {}
    const page = await openPage(product, { devboxId, session, cookie, query: { client: 'bench', ...query } })
    const arrived = Promise.withResolvers<void>()
    let isPicture = false
    page.onNotice((notice: TerminalNotice) => {
      if (notice.t === 'ready') {
        if (isCounting && (notice.from !== 'since' || notice.epoch !== place?.epoch)) snapshots++
        place = { epoch: notice.epoch, since: notice.offset }
        arrived.resolve()
      } else if (notice.t === 'snap') {
        isPicture = true
        if (isCounting) snapshots++
        if (place) place.since = notice.offset
      }
    })
    page.onData((bytes) => {
      page.parsed(bytes.length)
      if (isPicture) {
        isPicture = false
        return
      }
      if (place) place.since += bytes.length
      text += bytes.toString('latin1')
      if (!isCounting) return
      const end = text.indexOf('END\n')
      isDone ||= end >= 0
      hash.update(end >= 0 ? text.slice(0, end) : text.slice(0, -8))
      text = end >= 0 ? '' : text.slice(-8)
    })
    await arrived.promise
    return page
  }
  let page = await connect()
  page.send(
    'stty raw -echo; printf "rea%s" dy; read -r go; for ((i = 1; i <= ' +
      last +
      '; i++)); do echo $i; done; echo END; read -r go\n',
  )
  await waitFor(() => text.endsWith('ready'))
  text = ''
  isCounting = true
  page.send('go\n')
  for (let done = 0; done < times; done++) {
    await delay(5)
    page.leave()
    await page.closed
    page = await connect()
  }
  const counted = isDone ? 0 : Number(/(\d+)\n\d*$/.exec(text)?.[1])
  await waitFor(() => isDone, 120_000)
  page.sendFrame({ t: 'close' })
  const expected = createHash('sha256')
  for (let number = 1; number <= last; number++) expected.update(`${number}\n`)
  return { isSame: hash.digest('hex') === expected.digest('hex'), snapshots, reached: counted / last }
}

/** Many shells with two pages each, all receiving keys: round trips to the typing page and to the other. */
export const crowd = async (ways: Way[], { sessions, seconds }: { sessions: number; seconds: number }) => {
  const shells = await inTurns(sessions, 8, async (index) => {
    const { product, devboxId, cookie } = ways[index % ways.length] as Way
    const session = newName()
    const writer = await openPage(product, { devboxId, session, cookie, query: { client: `w${index}` } })
    const reader = new Reader({ ...writer, end: () => writer.sendFrame({ t: 'close' }) })
    await reader.until(prompt, 60_000)
    await toCat(reader)
    const watcher = new Reader({
      ...(await openPage(product, { devboxId, session, cookie, query: { client: `v${index}`, role: 'watch' } })),
      end: () => undefined,
    })
    return { reader, watcher }
  })
  await delay(500)
  const typed: number[] = []
  const watched: number[] = []
  const end = performance.now() + seconds * 1000
  await Promise.all(
    shells.map(async ({ reader, watcher }, index) => {
      await delay(index * 4)
      while (performance.now() < end) {
        reader.forget()
        watcher.forget()
        const typedAt = performance.now()
        const both = Promise.all([reader.until(/[a-z]/, 20_000), watcher.until(/[a-z]/, 20_000)])
        reader.shell.send('k')
        const [at, alsoAt] = await both
        typed.push(at - typedAt)
        watched.push(alsoAt - typedAt)
        await delay(200)
      }
    }),
  )
  for (const { reader, watcher } of shells) {
    watcher.shell.leave()
    reader.shell.end()
  }
  return { typed, watched }
}

const inTurns = async <T>(count: number, atOnce: number, run: (index: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = []
  for (let first = 0; first < count; first += atOnce)
    results.push(
      ...(await Promise.all(Array.from({ length: Math.min(atOnce, count - first) }, (_, at) => run(first + at)))),
    )
  return results
}

const waitFor = async (isSo: () => boolean, withinMs = 20_000) => {
  const end = performance.now() + withinMs
  while (!isSo()) {
    if (performance.now() > end) throw new Error('Timed out')
    await delay(5)
  }
}
