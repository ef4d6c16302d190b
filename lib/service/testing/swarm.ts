import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SwarmChoice } from '#lib/service/engine/choose-engine.ts'
import { parseEngineAddress } from '#lib/service/engine/container/engine-address.ts'
import { EngineApi } from '#lib/service/engine/container/engine-api.ts'
import { load, once, until } from './docker.ts'
import { imageArchive, type TestImage } from './images.ts'

const script = fileURLToPath(new URL('./swarm.sh', import.meta.url))

/** A machine of the swarm: its network, host name, mounts and processes are its own. */
class TestNode {
  readonly hostname: string
  readonly address: string
  readonly url: string
  readonly api: EngineApi
  readonly #folder: string
  readonly #port: string

  constructor(folder: string, subnet: string, number: number) {
    this.hostname = `node-${number}`
    this.address = `${subnet}.${number}`
    this.url = `tcp://${this.address}:2375`
    this.api = new EngineApi(parseEngineAddress(this.url, {}))
    this.#folder = join(folder, String(number))
    this.#port = `port${number}`
  }

  async untilUp(): Promise<void> {
    await until(this.hostname, () => this.#responds())
  }

  #responds() {
    return this.api.json('GET', '/_ping', { timeoutMs: 1_000 }).then(
      () => true,
      () => false,
    )
  }

  /** Throws for a problem in the response as well. */
  async post(path: string): Promise<void> {
    const headers = { 'x-registry-auth': Buffer.from('{}').toString('base64') }
    const response = await fetch(`http://${this.address}:2375${path}`, { method: 'POST', headers })
    const output = await response.text()
    if (!response.ok || output.includes('"error"')) throw new Error(`${path}: ${output}`)
  }

  /** The machine loses its power: it falls silent, without closing its connections. */
  async kill(): Promise<void> {
    writeFileSync(join(this.#folder, 'off'), '')
    await until(`the end of ${this.hostname}`, () => existsSync(join(this.#folder, 'is-off')))
  }

  /** The machine comes back with its disk. */
  async revive(): Promise<void> {
    await rm(join(this.#folder, 'off'))
    await this.untilUp()
  }

  /** Kills only the engine. Its containers run until it is back. */
  async killDaemon(): Promise<void> {
    writeFileSync(join(this.#folder, 'daemon-off'), '')
    await until(`the end of the engine on ${this.hostname}`, async () => !(await this.#responds()))
  }

  async reviveDaemon(): Promise<void> {
    await rm(join(this.#folder, 'daemon-off'))
    await this.untilUp()
  }

  disconnect(): void {
    this.#setPort('down')
  }

  reconnect(): void {
    this.#setPort('up')
  }

  #setPort(state: 'up' | 'down') {
    const pid = readFileSync(join(this.#folder, '../switch'), 'utf8').trim()
    const { status, stderr } = spawnSync(
      'nsenter',
      ['--target', pid, '--net', 'ip', 'link', 'set', this.#port, state],
      { encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(stderr)
  }
}

/** Three Docker Engines as a swarm and a registry. The first node is the manager. */
class TestSwarm {
  readonly folder: string
  readonly nodes: readonly [TestNode, TestNode, TestNode]
  readonly manager: TestNode
  readonly registry: string
  readonly #subnet: string

  constructor(folder: string, subnet: string) {
    const node = (number: number) => new TestNode(folder, subnet, number)
    this.folder = folder
    this.#subnet = subnet
    this.nodes = [node(1), node(2), node(3)]
    this.manager = this.nodes[0]
    this.registry = `${subnet}.253:5000`
  }

  /** Starts the swarm, which ends with `parent`. */
  async launch(parent: number): Promise<void> {
    spawn('/bin/bash', [script, this.folder, String(parent), this.#subnet], { stdio: 'ignore', detached: true }).unref()
    await Promise.all(this.nodes.map((node) => node.untilUp()))
    const [manager, ...workers] = this.nodes
    const listen = ({ address }: TestNode) => ({ ListenAddr: '0.0.0.0:2377', AdvertiseAddr: address })
    await manager.api.json('POST', '/swarm/init', { body: listen(manager) })
    const { JoinTokens } = await manager.api.json<{ JoinTokens: { Worker: string } }>('GET', '/swarm')
    const join = { RemoteAddrs: [`${manager.address}:2377`], JoinToken: JoinTokens.Worker }
    await Promise.all(
      workers.map((worker) => worker.api.json('POST', '/swarm/join', { body: { ...listen(worker), ...join } })),
    )
  }

  /** What a service needs to use the swarm. */
  get choice(): SwarmChoice {
    return {
      url: this.manager.url,
      nodeUrl: 'tcp://{address}:2375',
      registry: this.registry,
      placement: [],
      reserved: { cpu: 0.05, memory: 0.05 },
    }
  }

  /** Puts a test image on all nodes and into the registry when it is first needed. Returns its name. */
  async image(name: TestImage): Promise<string> {
    await once(join(this.folder, `image-${name}`), async () => {
      const [manager, ...others] = this.nodes
      const repo = `${this.registry}/${name}`
      await load(manager.api, await imageArchive(name))
      await manager.post(`/images/${name}/tag?repo=${repo}`)
      await manager.post(`/images/${repo}/push?tag=latest`)
      await Promise.all(
        others.map(async (node) => {
          await node.post(`/images/create?fromImage=${repo}&tag=latest`)
          await node.post(`/images/${repo}/tag?repo=${name}`)
        }),
      )
    })
    return name
  }

  async stopRegistry(): Promise<void> {
    writeFileSync(join(this.folder, 'registry-off'), '')
    await until('the end of the registry', async () => !(await this.#registryResponds()))
  }

  async startRegistry(): Promise<void> {
    await rm(join(this.folder, 'registry-off'))
    await until('the registry', () => this.#registryResponds())
  }

  #registryResponds() {
    return fetch(`http://${this.registry}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  async close(): Promise<void> {
    await writeFile(join(this.folder, 'stop'), '')
    await until('the end of the swarm', () => !existsSync(this.folder))
  }
}

export const swarmFlags = ({ url, nodeUrl = '', registry = '' }: SwarmChoice): string[] =>
  `--engine swarm --engine-url ${url} --engine-node-url ${nodeUrl} --engine-registry ${registry} --reserve-cpu 5 --reserve-memory 5`.split(
    ' ',
  )

/** One swarm for all test files of a run, started by the first. */
export const sharedSwarm = async (): Promise<TestSwarm> => {
  const folder = join(tmpdir(), `devdeck-swarm-${process.ppid}`)
  const subnetFile = join(folder, 'subnet')
  await once(folder, async () => {
    const subnet = freeSubnet()
    await new TestSwarm(folder, subnet).launch(process.ppid)
    await writeFile(subnetFile, subnet)
  })
  return new TestSwarm(folder, readFileSync(subnetFile, 'utf8'))
}

export const ownSwarm = async (): Promise<TestSwarm> => {
  const swarm = new TestSwarm(await mkdtemp(join(tmpdir(), 'devdeck-swarm-')), freeSubnet())
  await swarm.launch(process.pid)
  return swarm
}

/** Takes a subnet by the name of its network interface on this host. */
const freeSubnet = (): string => {
  for (let number = 1; number < 255; number++) {
    const link = `ddsw${number}`
    if (spawnSync('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', `${link}-port`]).status === 0)
      return `10.78.${number}`
  }
  throw new Error('No network interface for a swarm could be added')
}
