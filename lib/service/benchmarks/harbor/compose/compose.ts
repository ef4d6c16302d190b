import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, posix, resolve, sep } from 'node:path'
import { parseDocument } from 'yaml'
import type { StringMap } from '#lib/contract/common.ts'
import type { ContainerRun, ServiceRun } from '#lib/service/engine/box.ts'
import type { TaskEnvironment } from '../task-environment.ts'
import { interpolate } from './interpolation.ts'
import { bytesOf, millisecondsOf, shellWords } from './values.ts'

export interface ComposeBuild {
  context: string
  dockerfile: string
  /** Contents of a Dockerfile in the compose file itself. */
  inline: string | null
  args: StringMap
  target: string | null
}

export interface ComposeService extends Omit<ServiceRun, 'image'> {
  build: ComposeBuild | null
  image: string | null
}

export interface Compose {
  main: ContainerRun & Pick<ComposeService, 'build' | 'image' | 'dependsOn'>
  /** All but `main`. */
  services: ComposeService[]
  /** Networks without external access. */
  internalNetworks: string[]
}

interface Options {
  /** The folder of the compose file. */
  folder: string
  /** Paths in the file must not leave it. */
  taskFolder: string
  variables: StringMap
}

/** Reads a compose file, or returns all its problems. Refuses whatever reaches out of the devbox. */
export const readCompose = (
  text: string,
  options: Options,
): { compose: Compose; problems?: undefined } | { compose?: undefined; problems: string[] } => {
  const problems: string[] = []
  const document = parseDocument(text, { merge: true })
  if (document.errors.length > 0)
    return { problems: document.errors.map(({ message }) => message.split('\n')[0] ?? '') }
  const reader = new ComposeReader(options, (problem) => problems.push(problem))
  const compose = reader.read(interpolate(document.toJS(), options.variables, (problem) => problems.push(problem)))
  return problems.length > 0 ? { problems: [...new Set(problems)] } : { compose }
}

/** The variables that Harbor sets for compose files, and the task's own. */
export const composeVariables = ({ folder, image, cpus, memoryMb }: TaskEnvironment, env: StringMap): StringMap => ({
  CONTEXT_DIR: folder,
  MAIN_IMAGE_NAME: 'harbor-main',
  PREBUILT_IMAGE_NAME: image,
  CPUS: String(cpus ?? 1),
  MEMORY: `${memoryMb ?? 2048}M`,
  TEST_DIR: '/tests',
  ...Object.fromEntries(
    ['verifier', 'agent', 'artifacts'].flatMap((name) => [
      [`HOST_${name.toUpperCase()}_LOGS_PATH`, `${logsMount}${name}`],
      [`ENV_${name.toUpperCase()}_LOGS_PATH`, `/logs/${name}`],
    ]),
  ),
  HOST_ARTIFACTS_PATH: `${logsMount}artifacts`,
  ENV_ARTIFACTS_PATH: '/logs/artifacts',
  ...env,
})

const mainService = 'main'

/** Harbor mounts the log folders from the host. */
const logsMount = '/.harbor-logs/'

type Fields = Record<string, unknown>
type Mount =
  | NonNullable<ContainerRun['volumes']>[number]
  | NonNullable<ContainerRun['files']>[number]
  | { tmpfs: string }
type Report = (problem: string) => void

const unsafe: Record<string, string> = {
  privileged: 'gives the container full access to its host',
  cap_add: 'adds capabilities',
  devices: 'passes devices of the host',
  device_cgroup_rules: 'passes devices of the host',
  pid: 'shares processes',
  ipc: 'shares memory',
  userns_mode: 'changes the user namespace',
  uts: 'shares the hostname of the host',
  cgroup: 'shares control groups',
  cgroup_parent: 'changes the control group',
  security_opt: 'changes the security profile',
  sysctls: 'changes kernel settings',
  volumes_from: 'mounts volumes of other containers',
  external_links: 'connects to other containers',
  runtime: 'chooses the runtime',
  gpus: 'needs GPUs',
}

/** Settings that change nothing about a trial. */
const ignored = [
  ...['attach', 'container_name', 'dns', 'dns_opt', 'dns_search', 'domainname', 'expose', 'init', 'labels', 'links'],
  ...['logging', 'mem_reservation', 'memswap_limit', 'oom_score_adj', 'platform', 'ports', 'pull_policy', 'scale'],
  ...['stdin_open', 'stop_grace_period', 'stop_signal', 'tty', 'ulimits', 'cap_drop', 'annotations', 'cpu_shares'],
  ...['group_add', 'read_only', 'mac_address', 'pids_limit'],
]

class ComposeReader {
  readonly #options: Options
  readonly #report: Report

  constructor(options: Options, report: Report) {
    this.#options = options
    this.#report = report
  }

  read(file: unknown): Compose {
    const { services, networks, volumes, version, name, ...rest } = this.#map(file, 'The file')
    for (const key of Object.keys(rest)) if (!key.startsWith('x-')) this.#report(`${key} is not supported`)
    const volumeNames = Object.keys(this.#map(volumes, 'volumes'))
    for (const [key, volume] of Object.entries(this.#map(volumes, 'volumes')))
      for (const option of Object.keys(this.#map(volume, `volumes.${key}`)))
        if (!['name', 'labels'].includes(option) && !(option === 'driver' && this.#map(volume, '').driver === 'local'))
          this.#report(`volumes.${key}.${option} is not supported`)
    const internalNetworks: string[] = []
    const networkNames = ['default']
    for (const [key, network] of Object.entries(this.#map(networks, 'networks'))) {
      networkNames.push(key)
      const { internal, driver, external, ...more } = this.#map(network, `networks.${key}`)
      if (internal === true) internalNetworks.push(key)
      if (external) this.#report(`networks.${key}.external is refused: it connects to other containers`)
      if (driver !== undefined && driver !== 'bridge') this.#report(`networks.${key}.driver ${driver} is not supported`)
      for (const option of Object.keys(more))
        if (!['name', 'labels', 'ipam', 'enable_ipv6', 'attachable'].includes(option))
          this.#report(`networks.${key}.${option} is not supported`)
    }
    const read = Object.entries(this.#map(services, 'services'))
      .filter(([, service]) => this.#texts(this.#map(service, '').profiles ?? [], '').length === 0)
      .map(([key, service]) => this.#service(key, this.#map(service, `services.${key}`), volumeNames, networkNames))
    const known = new Set([mainService, ...read.map((service) => service.name)])
    for (const service of read)
      for (const { service: other } of service.dependsOn)
        if (!known.has(other)) this.#report(`services.${service.name}.depends_on: there is no service ${other}`)
    const services_ = read.filter((service) => service.name !== mainService)
    const { name: _, ...main } = read.find((service) => service.name === mainService) ?? {
      name: mainService,
      build: null,
      image: null,
      dependsOn: [],
    }
    if (hasCycle(read)) this.#report('depends_on: services depend on each other')
    for (const { name: service, build, image } of services_)
      if (!build && !image) this.#report(`services.${service} has neither an image nor a build`)
    return { main, services: services_, internalNetworks }
  }

  #service(name: string, fields: Fields, volumeNames: string[], networkNames: string[]): ComposeService {
    const at = (key: string) => `services.${name}.${key}`
    const { image, build, command, entrypoint, environment, env_file, working_dir, user, hostname, ...rest } = fields
    const { volumes, tmpfs, networks, depends_on, healthcheck, network_mode, restart, ...more } = rest
    const { deploy, cpus, mem_limit, shm_size, extra_hosts, profiles: _, ...others } = more
    for (const [key, value] of Object.entries(others)) {
      const isHarmless =
        (key === 'security_opt' && this.#texts(value, '').every((each) => /^no-new-privileges(:true)?$/.test(each))) ||
        (key === 'ipc' && ['private', 'shareable', 'none'].includes(String(value))) ||
        (key === 'privileged' && value === false) ||
        (key === 'runtime' && value === 'runc')
      if (key in unsafe && !isHarmless) this.#report(`${at(key)} is refused: it ${unsafe[key]}`)
      else if (!(key in unsafe) && !ignored.includes(key) && !key.startsWith('x-'))
        this.#report(`${at(key)} is not supported`)
    }
    const isOffline = network_mode === 'none'
    if (network_mode === 'host')
      this.#report(`${at('network_mode')} host is refused: it shares the network of the host`)
    else if (network_mode !== undefined && !['none', 'bridge', 'default'].includes(String(network_mode)))
      this.#report(`${at('network_mode')} ${network_mode} is not supported`)
    const { limits } = this.#map(this.#map(deploy, at('deploy')).resources, at('deploy.resources'))
    const limit = this.#map(limits, at('deploy.resources.limits'))
    const memory = mem_limit ?? limit.memory
    const cores = cpus ?? limit.cpus
    const mounts = this.#list(volumes, at('volumes')).map((each) => this.#mount(each, at('volumes'), volumeNames))
    const health = this.#healthcheck(healthcheck, at('healthcheck'))
    const optional = {
      command: this.#argv(command, at('command')),
      entrypoint: this.#argv(entrypoint, at('entrypoint')),
      workdir: this.#text(working_dir, at('working_dir')),
      user: this.#text(user, at('user')),
      hostname: this.#text(hostname, at('hostname')),
      healthcheck: health,
      restart: restart === undefined ? undefined : String(restart),
      memoryBytes: memory === undefined ? undefined : this.#number(memory, at('memory'), bytesOf),
      cpuCores: cores === undefined ? undefined : this.#number(cores, at('cpus'), Number),
      shmBytes: shm_size === undefined ? undefined : this.#number(shm_size, at('shm_size'), bytesOf),
    }
    return {
      name,
      image: this.#text(image, at('image')) ?? null,
      build: this.#build(build, at('build')),
      dependsOn: this.#dependsOn(depends_on, at('depends_on')),
      env: { ...this.#envFiles(env_file, at('env_file')), ...this.#pairs(environment, at('environment')) },
      volumes: mounts.flatMap((mount) => (mount && 'volume' in mount ? [mount] : [])),
      files: mounts.flatMap((mount) => (mount && 'source' in mount ? [mount] : [])),
      tmpfs: [
        ...this.#texts(tmpfs ?? [], at('tmpfs')).map((each) => each.split(':')[0] ?? each),
        ...mounts.flatMap((mount) => (mount && 'tmpfs' in mount ? [mount.tmpfs] : [])),
      ],
      networks: isOffline ? [] : this.#networks(networks, at('networks'), networkNames),
      extraHosts: this.#extraHosts(extra_hosts, at('extra_hosts')),
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    }
  }

  #build(build: unknown, at: string): ComposeBuild | null {
    if (build === undefined || build === null) return null
    const {
      context = '.',
      dockerfile,
      dockerfile_inline,
      args,
      target,
      ...rest
    } = typeof build === 'string' ? { context: build } : this.#map(build, at)
    for (const key of Object.keys(rest)) {
      if (['privileged', 'entitlements', 'ssh', 'secrets', 'additional_contexts', 'extra_hosts'].includes(key))
        this.#report(`${at}.${key} is not supported`)
    }
    const folder = this.#inside(String(context), `${at}.context`)
    return {
      context: folder ?? this.#options.folder,
      dockerfile: this.#text(dockerfile, `${at}.dockerfile`) ?? 'Dockerfile',
      inline: this.#text(dockerfile_inline, `${at}.dockerfile_inline`) ?? null,
      args: this.#pairs(args, `${at}.args`),
      target: this.#text(target, `${at}.target`) ?? null,
    }
  }

  #dependsOn(value: unknown, at: string): ComposeService['dependsOn'] {
    if (value === undefined) return []
    if (Array.isArray(value))
      return this.#texts(value, at).map((service) => ({ service, condition: 'started' as const }))
    return Object.entries(this.#map(value, at)).flatMap(([service, settings]) => {
      const { condition = 'service_started', required = true } = this.#map(settings, `${at}.${service}`)
      const short = /^service_(started|healthy|completed)(_successfully)?$/.exec(String(condition))?.[1]
      if (!short) this.#report(`${at}.${service}.condition ${condition} is not supported`)
      return required ? [{ service, condition: short as 'started' | 'healthy' | 'completed' }] : []
    })
  }

  #healthcheck(value: unknown, at: string): ContainerRun['healthcheck'] | undefined {
    if (value === undefined || value === null) return undefined
    const { test, disable, interval, timeout, retries, start_period, start_interval, ...rest } = this.#map(value, at)
    for (const key of Object.keys(rest)) this.#report(`${at}.${key} is not supported`)
    if (disable === true || (Array.isArray(test) && test[0] === 'NONE')) return 'none'
    const time = (name: string, given: unknown) =>
      given === undefined ? undefined : this.#number(given, `${at}.${name}`, millisecondsOf)
    const numbers = {
      intervalMs: time('interval', interval),
      timeoutMs: time('timeout', timeout),
      startPeriodMs: time('start_period', start_period),
      startIntervalMs: time('start_interval', start_interval),
      retries: retries === undefined ? undefined : this.#number(retries, `${at}.retries`, Number),
    }
    return {
      ...(test !== undefined && {
        test: typeof test === 'string' ? ['CMD-SHELL', test] : this.#texts(test, `${at}.test`),
      }),
      ...Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== undefined)),
    }
  }

  #networks(value: unknown, at: string, known: string[]): NonNullable<ContainerRun['networks']> {
    if (value === undefined || value === null) return [{ name: 'default', aliases: [] }]
    const list = Array.isArray(value)
      ? this.#texts(value, at).map((name) => ({ name, aliases: [] }))
      : Object.entries(this.#map(value, at)).map(([name, settings]) => ({
          name,
          aliases: this.#texts(this.#map(settings, `${at}.${name}`).aliases ?? [], `${at}.${name}.aliases`),
        }))
    for (const { name } of list) if (!known.includes(name)) this.#report(`${at}: there is no network ${name}`)
    return list
  }

  #mount(value: unknown, at: string, volumeNames: string[]): Mount | undefined {
    const fields = typeof value === 'string' ? this.#shortMount(value) : this.#map(value, at)
    const { type, target, read_only = false } = fields
    const source = fields.source === undefined ? undefined : String(fields.source)
    if (typeof target !== 'string' || !target.startsWith('/')) {
      this.#report(`${at}: ${JSON.stringify(value)} has no absolute target`)
      return undefined
    }
    if (type === 'tmpfs') return { tmpfs: target }
    if (type === 'volume') {
      if (source !== undefined && !volumeNames.includes(source)) this.#report(`${at}: there is no volume ${source}`)
      return { volume: source ?? null, target, readOnly: read_only === true }
    }
    if (type !== 'bind') {
      this.#report(`${at}: type ${type} is not supported`)
      return undefined
    }
    // Harbor mounts its own log folders.
    if (source?.startsWith(logsMount)) return undefined
    const path = source === undefined ? undefined : this.#inside(source, at, { isMount: true })
    return path === undefined ? undefined : { source: path, target: posix.normalize(target) }
  }

  #shortMount(text: string): Fields {
    const [first = '', second, mode] = text.split(':')
    if (second === undefined) return { type: 'volume', target: first }
    const isPath = /^[./~]/.test(first)
    return {
      type: isPath ? 'bind' : 'volume',
      source: first,
      target: second,
      read_only: mode?.split(',').includes('ro'),
    }
  }

  /** The path inside the task; undefined after reporting one that leaves it. */
  #inside(path: string, at: string, { isMount = false } = {}): string | undefined {
    const { folder, taskFolder } = this.#options
    const full = resolve(folder, path)
    const real = existsSync(full) ? realpathSync(full) : full
    if (real === taskFolder || real.startsWith(taskFolder + sep)) {
      if (existsSync(full)) return real
      this.#report(`${at}: ${path} does not exist`)
    } else if (/docker\.sock$/.test(path)) this.#report(`${at}: ${path} is refused: it controls the container engine`)
    else if (isMount && (isAbsolute(path) || path.startsWith('~')))
      this.#report(`${at}: ${path} is refused: it is a path of the host`)
    else this.#report(`${at}: ${path} is outside the task`)
    return undefined
  }

  #envFiles(value: unknown, at: string): StringMap {
    const files = this.#list(typeof value === 'string' ? [value] : value, at)
    return Object.assign(
      {},
      ...files.map((file) => {
        const { path, required = true } = typeof file === 'string' ? { path: file } : this.#map(file, at)
        if (required === false && !existsSync(join(this.#options.folder, String(path)))) return {}
        const found = this.#inside(String(path), at)
        if (found === undefined || !statSync(found).isFile()) return {}
        return envFileOf(readFileSync(found, 'utf8'))
      }),
    )
  }

  #extraHosts(value: unknown, at: string): string[] {
    if (value === undefined) return []
    const hosts = Array.isArray(value)
      ? this.#texts(value, at).map((each) => each.replace(/^([^:=]+)[:=]/, '$1:'))
      : Object.entries(this.#map(value, at)).map(([host, address]) => `${host}:${address}`)
    if (hosts.some((each) => each.endsWith(':host-gateway'))) this.#report(`${at}: host-gateway is refused`)
    return hosts
  }

  #pairs(value: unknown, at: string): StringMap {
    if (value === undefined || value === null) return {}
    const { variables } = this.#options
    const pairs = Array.isArray(value)
      ? this.#texts(value, at).map((each): [string, unknown] => {
          const [name = '', ...rest] = each.split('=')
          return [name, rest.length > 0 ? rest.join('=') : null]
        })
      : Object.entries(this.#map(value, at))
    return Object.fromEntries(
      pairs.flatMap(([name, each]) => {
        // Without a value, the variable is passed on.
        const given = each === null ? variables[name] : each
        return given === undefined ? [] : [[name, String(given)]]
      }),
    )
  }

  #argv(value: unknown, at: string): string[] | undefined {
    if (value === undefined || value === null) return undefined
    return typeof value === 'string' ? shellWords(value) : this.#texts(value, at)
  }

  #text(value: unknown, at: string): string | undefined {
    if (value === undefined || value === null) return undefined
    if (typeof value === 'object') this.#report(`${at} must be a string`)
    return String(value)
  }

  #number(value: unknown, at: string, read: (text: string) => number): number {
    const number = read(String(value))
    if (!(number >= 0)) this.#report(`${at}: ${value} is not a valid value`)
    return number
  }

  #texts(value: unknown, at: string): string[] {
    return this.#list(typeof value === 'string' ? [value] : value, at).map((each) => {
      if (typeof each === 'object') this.#report(`${at} must be a list of strings`)
      return String(each)
    })
  }

  #list(value: unknown, at: string): unknown[] {
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value
    this.#report(`${at} must be a list`)
    return []
  }

  #map(value: unknown, at: string): Fields {
    if (value === undefined || value === null) return {}
    if (typeof value === 'object' && !Array.isArray(value)) return value as Fields
    this.#report(`${at} must be a mapping`)
    return {}
  }
}

const hasCycle = (services: readonly ComposeService[]): boolean => {
  const left = new Map(services.map(({ name, dependsOn }) => [name, dependsOn.map(({ service }) => service)]))
  for (;;) {
    const ready = [...left].filter(([, others]) => !others.some((other) => left.has(other)))
    if (ready.length === 0) return left.size > 0
    for (const [name] of ready) left.delete(name)
  }
}

const envFileOf = (text: string): StringMap =>
  Object.fromEntries(
    text.split(/\r?\n/).flatMap((line) => {
      const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*)$/.exec(line) ?? []
      if (name === undefined) return []
      const [, , quoted] = /^(["'])(.*)\1\s*(?:#.*)?$/.exec(value) ?? []
      return [[name, quoted ?? value.replace(/\s+#.*$/, '').trimEnd()]]
    }),
  )
