import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Client, createClient } from '#lib/client/client.ts'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { TerminalNotice } from '#lib/protocol/terminals.ts'

export interface Seen {
  listMs: number[]
  /** Number of successes by kind. */
  done: Record<string, number>
  failures: { kind: string; text: string }[]
  /** The longest time from a failure to the next success of the same activity. */
  outageMs: number
}

interface Options {
  name: string
  url: string
  apiKey: string
  scenarioIds: string[]
  runsJobs: boolean
}

const pages = ['/devboxes', '/axons', '/benchmarks', '/snapshots', '/evictions', '/activity']
const pauses = { pages: 4_000, lists: 1_500, commands: 5_000, records: 5_000, echoes: 2_000, jobs: 30_000, retry: 500 }
const echoTimeoutMs = 30_000
const callTimeoutMs = 60_000

const newSeen = (): Seen => ({ listMs: [], done: {}, failures: [], outageMs: 0 })

/** One person: a session, a devbox, a terminal in it, and activities that repeat until `stop`. */
export class Person {
  readonly name: string
  readonly #options: Options
  readonly #cookie: string
  readonly #client: Client
  readonly #devbox: string
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>[] = []
  readonly #lastSuccessMs = new Map<string, number>()
  readonly #failingSinceMs = new Map<string, number>()
  readonly #axons: string[] = []
  readonly #jobs: string[] = []
  readonly #problems: string[] = []
  #seen = newSeen()

  static async signIn(options: Options): Promise<Person> {
    const headers = { origin: options.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    const body = JSON.stringify({ api_key: options.apiKey })
    const response = await fetch(`${options.url}/api/session`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`The sign-in returned ${response.status}`)
    const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const client = createClient({
      baseUrl: `${options.url}/api`,
      headers: { cookie, origin: options.url, 'sec-fetch-site': 'same-origin' },
    })
    const { id } = await client.devboxes.createAndAwaitRunning({ body: { name: options.name } })
    return new Person(options, cookie, client, id)
  }

  private constructor(options: Options, cookie: string, client: Client, devbox: string) {
    this.name = options.name
    this.#options = options
    this.#cookie = cookie
    this.#client = client
    this.#devbox = devbox
  }

  start(): void {
    this.#repeat('pages', pauses.pages, (i) => this.#openPage(pages[i % pages.length] ?? '/'))
    this.#repeat('lists', pauses.lists, (i) => this.#list(i))
    this.#repeat('commands', pauses.commands, (i) => this.#runCommand(i))
    this.#repeat('records', pauses.records, (i) => this.#createRecord(i))
    if (this.#options.runsJobs) this.#repeat('jobs', pauses.jobs, (i) => this.#runJob(i))
    this.#repeat('terminal', pauses.retry, () => this.#useTerminal())
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await Promise.all(this.#running)
  }

  /** What this person saw since the last call. */
  take(): Seen {
    const seen = this.#seen
    this.#seen = newSeen()
    return seen
  }

  worksSince(ms: number): boolean {
    return this.stuck(ms) === ''
  }

  stuck(sinceMs: number): string {
    const kinds = ['pages', 'lists', 'commands', 'records', 'terminal']
    return kinds.filter((kind) => (this.#lastSuccessMs.get(kind) ?? 0) < sinceMs).join(', ')
  }

  /** Acknowledged records that are missing, wrong outputs, lost keystrokes and miscounted jobs. */
  async lost(service: Client): Promise<string[]> {
    for (const id of this.#axons)
      await service.axons.get({ params: { id } }).catch(() => this.#problems.push(`axon ${id} is lost`))
    for (const id of this.#jobs) await this.#checkJob(service, id)
    return this.#problems.map((problem) => `${this.name}: ${problem}`)
  }

  #repeat(kind: string, pauseMs: number, act: (i: number) => Promise<void>): void {
    const { signal } = this.#stopped
    const run = async () => {
      // Spread, as people are.
      await delay(Math.random() * pauseMs, undefined, { signal })
      for (let i = 0; ; i++) {
        try {
          await act(i)
          this.#succeeded(kind)
        } catch (error) {
          if (signal.aborted) return
          this.#failed(kind, error)
        }
        await delay(pauseMs * (0.5 + Math.random()), undefined, { signal })
      }
    }
    this.#running.push(run().catch(() => undefined))
  }

  #succeeded(kind: string): void {
    const now = Date.now()
    this.#lastSuccessMs.set(kind, now)
    this.#seen.done[kind] = (this.#seen.done[kind] ?? 0) + 1
    this.#seen.outageMs = Math.max(this.#seen.outageMs, now - (this.#failingSinceMs.get(kind) ?? now))
    this.#failingSinceMs.delete(kind)
  }

  #failed(kind: string, error: unknown): void {
    if (!this.#failingSinceMs.has(kind)) this.#failingSinceMs.set(kind, Date.now())
    const { code, status, message, cause } = error as Error & { code?: string; status?: number; cause?: Error }
    const reason = status === undefined || status === 0 ? (cause?.message ?? message) : `${status} ${code}`
    this.#seen.failures.push({ kind: `${kind}: ${reason}`, text: `${this.name}, ${kind}: ${message}` })
  }

  async #openPage(path: string): Promise<void> {
    const response = await fetch(this.#options.url + path, {
      headers: { cookie: this.#cookie },
      signal: AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(callTimeoutMs)]),
    })
    const html = await response.text()
    if (!response.ok)
      throw Object.assign(new Error(`${path} returned ${response.status}`), { status: response.status, code: 'page' })
    if (!html.includes('</html>')) this.#problems.push(`page ${path} was cut off`)
  }

  async #list(i: number): Promise<void> {
    const { devboxes, axons, benchmarkJobs } = this.#client
    const query = { limit: 20 }
    const lists = [() => devboxes.list({ query }), () => axons.list({ query }), () => benchmarkJobs.list({ query })]
    const start = performance.now()
    await lists[i % lists.length]?.()
    this.#seen.listMs.push(performance.now() - start)
  }

  async #runCommand(i: number): Promise<void> {
    const command = `echo "$((${i} * 7)) $HOSTNAME" | cut -d' ' -f1; seq 1 200 | tail -1`
    const { stdout, exit_status, stdout_truncated } = await this.#client.executions.executeSync({
      params: { id: this.#devbox },
      body: { command },
    })
    // A stop of the service ends its commands.
    if (exit_status !== 0) throw new Error(`the command ended with ${exit_status}`)
    // On a full disk, output is cut and marked.
    if (stdout_truncated) throw new Error('the output was cut off')
    if (stdout !== `${i * 7}\n200\n`) this.#problems.push(`command ${i} printed ${JSON.stringify(stdout)}`)
  }

  async #createRecord(i: number): Promise<void> {
    const { id } = await this.#client.axons.create({ body: { name: `${this.name}, ${i}` } })
    this.#axons.push(id)
  }

  async #runJob(i: number): Promise<void> {
    const { id } = await this.#client.benchmarkJobs.create({
      body: {
        name: `${this.name}, ${i}`,
        spec: {
          type: 'scenarios',
          scenario_ids: this.#options.scenarioIds,
          agent_configs: [{ name: 'solver', type: 'job_agent', kwargs: { command: 'echo 1 >~/answer' } }],
          orchestrator_config: { n_concurrent_trials: 2 },
        },
      },
    })
    this.#jobs.push(id)
  }

  async #checkJob(service: Client, id: string): Promise<void> {
    const deadline = Date.now() + 120_000
    for (;;) {
      const job = await service.benchmarkJobs.get({ params: { id } })
      if (hasJobEnded(job.state)) {
        const outcomes = (job.benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) => scenario_outcomes)
        const expected = this.#options.scenarioIds.length
        if (outcomes.length !== expected) this.#problems.push(`job ${id}: ${outcomes.length} of ${expected} trials`)
        return
      }
      if (Date.now() > deadline) return void this.#problems.push(`job ${id} is still ${job.state}`)
      await delay(500)
    }
  }

  /** Types in the terminal until its connection ends. */
  async #useTerminal(): Promise<void> {
    const address = `${this.#options.url.replace('http', 'ws')}/api/terminals/${this.#devbox}/main?cols=80&rows=24&client=${encodeURIComponent(this.name.replace(' ', '-'))}`
    const socket = new WebSocket(address, { headers: { cookie: this.#cookie }, origin: this.#options.url })
    const { signal } = this.#stopped
    const end = () => socket.terminate()
    signal.addEventListener('abort', end, { once: true })
    let text = ''
    let isReady = false
    let isReset = false
    let problem = ''
    const closed = new Promise<string>((resolve) => {
      socket.on('error', ({ message }) => {
        problem ||= message
      })
      socket.on('close', (code) => resolve(problem || `closed with ${code}`))
    })
    socket.on('message', (data, isBinary) => {
      if (isBinary) text = `${text}${data}`.slice(-8_192)
      else {
        const notice = JSON.parse(String(data)) as TerminalNotice
        if (notice.t === 'ready') isReady = true
        if (notice.t === 'ready' || (notice.t === 'state' && notice.upstream === 'retrying') || notice.t === 'dropped')
          isReset = true
        if (notice.t === 'problem') problem = notice.code
      }
    })
    const isOpen = () => socket.readyState !== WebSocket.CLOSED && !signal.aborted
    try {
      while (!isReady && isOpen()) await Promise.race([delay(20), closed])
      for (let i = 0; isOpen(); i++) {
        const token = `${Date.now()}${i}`
        isReset = false
        // The shell prints the sum; the echo of the input is different.
        socket.send(Buffer.from(`echo t$((${token}+1))e\r`))
        const expected = `t${BigInt(token) + 1n}e`
        const untilMs = Date.now() + echoTimeoutMs
        while (!text.includes(expected) && isOpen() && !isReset && Date.now() < untilMs)
          await Promise.race([delay(20), closed])
        if (text.includes(expected)) this.#succeeded('terminal')
        else if (isOpen() && isReset) this.#failed('terminal', new Error('reconnecting to the service'))
        else if (isOpen()) this.#problems.push(`nothing was printed for ${expected} in ${echoTimeoutMs / 1000} s`)
        await Promise.race([delay(pauses.echoes * (0.5 + Math.random())), closed])
      }
    } finally {
      signal.removeEventListener('abort', end)
      socket.terminate()
    }
    throw new Error(await closed)
  }
}
