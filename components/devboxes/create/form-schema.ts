import * as z from 'zod/mini'
import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import { durationText, parseDuration } from '#lib/browser/text/duration.ts'
import { type Devbox, DevboxCreate } from '#lib/contract/devboxes.ts'
import {
  customSizeProblem,
  type LaunchParameters,
  maxKeepAliveSeconds,
  type resourceSizes,
} from '#lib/contract/launch-parameters.ts'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'

export interface FileRow {
  path: string
  content: string
}

export interface MountRow {
  type: 'object_mount' | 'agent_mount'
  id: string
  path: string
}

/** A gateway by the prefix of its variables, or an MCP server by its variable. */
export interface ProxyRow {
  variable: string
  /** Name or id of the config. */
  config: string
  /** Name or id. */
  secret: string
}

export interface DevboxFormValues {
  name: string
  source: 'empty' | 'snapshot' | 'blueprint'
  snapshot: string
  /** An id or a name. */
  /** An id, or the name below. */
  blueprint: string
  /** Set by a template that names its blueprint: an opaque ID looks no different from a name. */
  blueprintName: string
  size: '' | (typeof resourceSizes)[number]
  cpuCores: string
  memoryGb: string
  diskGb: string
  keepAlive: string
  idle: '' | 'shutdown' | 'suspend'
  idleSeconds: string
  metadata: KeyValueRow[]
  environment: KeyValueRow[]
  /** Variable names and secret names. */
  secrets: KeyValueRow[]
  launchCommands: string
  entrypoint: string
  files: FileRow[]
  mounts: MountRow[]
  tunnel: '' | NonNullable<TunnelOptions['auth_mode']>
  networkPolicy: string
  gateways: ProxyRow[]
  mcpServers: ProxyRow[]
  architecture: '' | NonNullable<LaunchParameters['architecture']>
  tier: '' | NonNullable<LaunchParameters['provisioning_tier']>
  ports: string
  username: string
  uid: string
  services: string
  suspendCommands: string
  resumeOn: '' | 'http' | 'axon_event' | 'http axon_event'
  /** Launch parameters without a field, copied from another devbox. */
  otherParameters: Partial<LaunchParameters>
}

export const emptyValues: DevboxFormValues = {
  name: '',
  source: 'empty',
  snapshot: '',
  blueprint: '',
  blueprintName: '',
  size: '',
  cpuCores: '',
  memoryGb: '',
  diskGb: '',
  keepAlive: '',
  idle: '',
  idleSeconds: '',
  metadata: [],
  environment: [],
  secrets: [],
  launchCommands: '',
  entrypoint: '',
  files: [],
  mounts: [],
  tunnel: '',
  networkPolicy: '',
  gateways: [],
  mcpServers: [],
  architecture: '',
  tier: '',
  ports: '',
  username: '',
  uid: '',
  services: '',
  suspendCommands: '',
  resumeOn: '',
  otherParameters: {},
}

type FormField = keyof DevboxFormValues

/** The fields of launch parameters, which blueprints have too. */
export type LaunchValues = Pick<
  DevboxFormValues,
  | 'size'
  | 'cpuCores'
  | 'memoryGb'
  | 'diskGb'
  | 'keepAlive'
  | 'idle'
  | 'idleSeconds'
  | 'launchCommands'
  | 'networkPolicy'
  | (typeof moreLaunchFields)[number]
>

/** Under "More" in forms. */
export const moreLaunchFields = [
  'architecture',
  'tier',
  'ports',
  'username',
  'uid',
  'services',
  'suspendCommands',
  'resumeOn',
  'otherParameters',
] as const

export const launchParametersOf = (
  values: LaunchValues,
  fail: (field: keyof LaunchValues, message: string) => void,
): LaunchParameters => {
  const numberOf = (field: 'cpuCores' | 'memoryGb' | 'diskGb') => {
    const text = values[field].trim()
    if (text === '') return undefined
    const isWhole = field !== 'cpuCores'
    const value = Number(text)
    if ((isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text) && value > 0) return value
    fail(field, `Enter a ${isWhole ? 'whole ' : ''}number above 0`)
    return undefined
  }
  const secondsOf = (field: 'keepAlive' | 'idleSeconds', maxSeconds: number) => {
    const text = values[field].trim()
    if (text === '') return undefined
    const seconds = parseDuration(text)
    if (seconds !== undefined && seconds > 0 && seconds <= maxSeconds) return seconds
    if (seconds === undefined && /^\d+(\.\d+)?$/.test(text)) fail(field, `Add a unit, such as ${text}m or ${text}h`)
    else if (seconds === undefined) fail(field, 'Enter a time such as 90m, 1h 30m or 2d')
    else fail(field, seconds === 0 ? 'Enter a time above 0' : `Enter at most ${durationText(maxSeconds)}`)
    return undefined
  }
  const require = (field: 'idleSeconds' | 'cpuCores' | 'memoryGb', message: string) => {
    if (values[field].trim() === '') fail(field, message)
    return values[field].trim() !== ''
  }
  const custom =
    values.size === 'CUSTOM_SIZE'
      ? {
          custom_cpu_cores: numberOf('cpuCores'),
          custom_gb_memory: numberOf('memoryGb'),
          custom_disk_size: numberOf('diskGb'),
        }
      : {}
  if (values.size === 'CUSTOM_SIZE') {
    const hasCpu = require('cpuCores', 'Enter the number of cores')
    const hasMemory = require('memoryGb', 'Enter the amount of memory')
    const found = hasCpu && hasMemory ? customSizeProblem(custom) : undefined
    // Numbers that can't be read have their own message.
    if (found && custom[found.field] !== undefined) fail(customFields[found.field], sizeProblems[found.field](custom))
  }
  if (values.idle) require('idleSeconds', 'Enter the idle time')
  const launchCommands = linesOf(values.launchCommands)
  const ports = wordsOf(values.ports).map(Number)
  if (ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    fail('ports', 'Enter numbers from 1 to 65535')
  const username = values.username.trim()
  const hasUser = username !== '' || values.uid.trim() !== ''
  if (hasUser && username === '') fail('username', 'Enter a user name')
  if (hasUser && !/^\d{1,10}$/.test(values.uid.trim())) fail('uid', 'Enter a user ID')
  const services = wordsOf(values.services)
  const idleSeconds = values.idle ? secondsOf('idleSeconds', maxIdleSeconds) : undefined
  return definedOnly({
    ...values.otherParameters,
    resource_size_request: values.size || undefined,
    ...custom,
    keep_alive_time_seconds: secondsOf('keepAlive', maxKeepAliveSeconds),
    after_idle: values.idle && idleSeconds ? { idle_time_seconds: idleSeconds, on_idle: values.idle } : undefined,
    launch_commands: launchCommands.length > 0 ? launchCommands : undefined,
    network_policy_id: values.networkPolicy.trim() || undefined,
    architecture: values.architecture || undefined,
    provisioning_tier: values.tier || undefined,
    available_ports: ports.length > 0 ? ports : undefined,
    user_parameters: hasUser ? { username, uid: Number(values.uid) } : undefined,
    required_services: services.length > 0 ? services : undefined,
    lifecycle: lifecycleOf(values),
  })
}

const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '')
const wordsOf = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '')

const lifecycleOf = ({ suspendCommands, resumeOn, otherParameters: { lifecycle } }: LaunchValues) => {
  const commands = linesOf(suspendCommands)
  const hooks = { ...lifecycle?.lifecycle_hooks, ...(commands.length > 0 && { suspend_commands: commands }) }
  return unlessEmpty(
    definedOnly({
      ...lifecycle,
      lifecycle_hooks: unlessEmpty(hooks),
      resume_triggers: unlessEmpty(Object.fromEntries(wordsOf(resumeOn).map((trigger) => [trigger, true]))),
    }),
  )
}

/** The API has no limit; a longer time is more likely a typo. */
const maxIdleSeconds = 30 * 86_400

const customFields = { custom_cpu_cores: 'cpuCores', custom_gb_memory: 'memoryGb', custom_disk_size: 'diskGb' } as const
type CustomSize = { custom_cpu_cores?: number | undefined }
const sizeProblems: Record<keyof typeof customFields, (size: CustomSize) => string> = {
  custom_cpu_cores: () => 'Enter 0.5, 1 or an even number up to 16',
  custom_gb_memory: ({ custom_cpu_cores: cpu = 0 }) =>
    `Enter 1 or an even number up to 64, from ${2 * cpu} to ${8 * cpu} GB for ${cpu} cores`,
  custom_disk_size: () => 'Enter an even number from 2 to 64',
}

export const fileMountsOf = (rows: readonly FileRow[], fail: (message: string) => void): Record<string, string> => {
  const files = rows
    .map(({ path, content }) => ({ path: path.trim(), content }))
    .filter(({ path, content }) => path !== '' || content !== '')
  const paths = files.map(({ path }) => path)
  const duplicate = paths.find((path, at) => paths.indexOf(path) !== at)
  if (paths.includes('')) fail('A file has text but no path')
  else if (duplicate !== undefined) fail(`${duplicate} is listed twice`)
  return Object.fromEntries(files.map(({ path, content }) => [path, content]))
}

const mountsOf = (rows: readonly MountRow[], fail: (message: string) => void) => {
  const mounts = rows.map(({ type, id, path }) => ({ type, id, path: path.trim() }))
  const isMissing = (has: (row: MountRow) => unknown) => mounts.findIndex((row) => !has(row)) + 1
  const unnamed = isMissing(({ id }) => id)
  const unplaced = isMissing(({ type, path }) => type === 'agent_mount' || path)
  if (unnamed) fail(`Select an object or agent for mount ${unnamed}`)
  else if (unplaced) fail(`Enter the path of mount ${unplaced}`)
  if (mounts.length === 0) return undefined
  return mounts.map(({ type, id, path }) =>
    type === 'object_mount'
      ? { type, object_id: id, object_path: path }
      : { type, agent_id: id, agent_name: null, agent_path: path || null },
  )
}

const proxiesOf = <Config extends 'gateway' | 'mcp_config'>(
  rows: readonly ProxyRow[],
  config: Config,
  fail: (message: string) => void,
) => {
  const named = rows.map((row) => ({ ...row, variable: row.variable.trim() }))
  const missing = named.findIndex((row) => !row.variable || !row.config.trim() || !row.secret.trim()) + 1
  const variables = named.map(({ variable }) => variable)
  const duplicate = variables.find((variable, at) => variables.indexOf(variable) !== at)
  if (missing) fail(`Fill in all fields of row ${missing}`)
  else if (duplicate !== undefined) fail(`${duplicate} is listed twice`)
  return unlessEmpty(
    Object.fromEntries(
      named.map((row) => [row.variable, { [config]: row.config.trim(), secret: row.secret.trim() }] as const),
    ),
  )
}

const proxyRowsOf = (map: Record<string, unknown> | null | undefined): ProxyRow[] =>
  Object.entries(map ?? {}).map(([variable, spec]) => {
    const { gateway, mcp_config, secret } = Object(spec) as Record<string, unknown>
    return { variable, config: String(gateway ?? mcp_config ?? ''), secret: String(secret ?? '') }
  })

/** Mounts of other kinds have no fields here. */
const mountRowsOf = (mounts: readonly unknown[]): MountRow[] =>
  mounts.flatMap((mount) => {
    const { type, object_id, object_path, agent_id, agent_path } = Object(mount) as Record<string, unknown>
    const text = (value: unknown) => (typeof value === 'string' ? value : '')
    if (type === 'object_mount') return { type, id: text(object_id), path: text(object_path) }
    return type === 'agent_mount' ? { type, id: text(agent_id), path: text(agent_path) } : []
  })

export const mapOf = (rows: readonly KeyValueRow[], fail: (message: string) => void): Record<string, string> => {
  const result = rowsToMap(rows)
  if (!result.ok) fail(result.message)
  return result.ok ? result.map : {}
}

const toRequest = (values: DevboxFormValues, fail: (field: FormField, message: string) => void): DevboxCreate => {
  const mapIn = (field: 'metadata' | 'environment' | 'secrets') =>
    unlessEmpty(mapOf(values[field], (message) => fail(field, message)))
  if (values.source === 'snapshot' && values.snapshot.trim() === '') fail('snapshot', 'Select a snapshot')
  if (values.source === 'blueprint' && values.blueprint.trim() === '') fail('blueprint', 'Select a blueprint')
  const blueprint = values.source === 'blueprint' ? values.blueprint.trim() : ''
  return definedOnly({
    name: values.name.trim() || undefined,
    snapshot_id: values.source === 'snapshot' ? values.snapshot.trim() : undefined,
    ...(blueprint && { [blueprint === values.blueprintName ? 'blueprint_name' : 'blueprint_id']: blueprint }),
    metadata: mapIn('metadata'),
    environment_variables: mapIn('environment'),
    secrets: mapIn('secrets'),
    launch_parameters: unlessEmpty(launchParametersOf(values, fail)),
    entrypoint: values.entrypoint.trim() || undefined,
    file_mounts: unlessEmpty(fileMountsOf(values.files, (message) => fail('files', message))),
    mounts: mountsOf(values.mounts, (message) => fail('mounts', message)),
    gateways: proxiesOf(values.gateways, 'gateway', (message) => fail('gateways', message)),
    mcp: proxiesOf(values.mcpServers, 'mcp_config', (message) => fail('mcpServers', message)),
    tunnel: values.tunnel ? { auth_mode: values.tunnel } : undefined,
  })
}

export const DevboxForm = z.pipe(
  z.pipe(
    z.custom<DevboxFormValues>(),
    z.transform((values: DevboxFormValues, context) =>
      toRequest(values, (field, message) =>
        context.issues.push({ code: 'custom', path: [field], message, input: values[field] }),
      ),
    ),
  ),
  DevboxCreate,
)

export const definedOnly = <Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

export const unlessEmpty = <Fields extends object>(map: Fields): Fields | undefined =>
  Object.keys(map).length > 0 ? map : undefined

type Template = Omit<DevboxCreate, 'tunnel'> & { tunnel?: TunnelOptions | Pick<Tunnel, 'auth_mode'> | null | undefined }

export const launchValuesOf = (launch: LaunchParameters): LaunchValues => {
  const {
    resource_size_request,
    custom_cpu_cores,
    custom_gb_memory,
    custom_disk_size,
    keep_alive_time_seconds,
    after_idle,
    launch_commands,
    network_policy_id,
    architecture,
    provisioning_tier,
    available_ports,
    user_parameters,
    required_services,
    lifecycle,
    ...unknown
  } = launch
  const { lifecycle_hooks, resume_triggers, ...otherLifecycle } = lifecycle ?? {}
  const { suspend_commands, ...otherHooks } = lifecycle_hooks ?? {}
  const otherParts = { ...otherLifecycle, lifecycle_hooks: unlessEmpty(setOnly(otherHooks)) }
  const others = { ...unknown, lifecycle: unlessEmpty(setOnly(otherParts)) }
  const text = (value: number | null | undefined) => (value == null ? '' : String(value))
  const time = (seconds: number | null | undefined) => (seconds == null ? '' : durationText(seconds))
  return {
    size: resource_size_request ?? '',
    cpuCores: text(custom_cpu_cores),
    memoryGb: text(custom_gb_memory),
    diskGb: text(custom_disk_size),
    keepAlive: time(keep_alive_time_seconds),
    idle: after_idle?.on_idle ?? '',
    idleSeconds: time(after_idle?.idle_time_seconds),
    launchCommands: (launch_commands ?? []).join('\n'),
    networkPolicy: network_policy_id ?? '',
    architecture: architecture ?? '',
    tier: provisioning_tier ?? '',
    ports: (available_ports ?? []).join(', '),
    username: user_parameters?.username ?? '',
    uid: text(user_parameters?.uid),
    services: (required_services ?? []).join(', '),
    suspendCommands: (suspend_commands ?? []).join('\n'),
    resumeOn: (['http', 'axon_event'] as const)
      .filter((trigger) => resume_triggers?.[trigger])
      .join(' ') as LaunchValues['resumeOn'],
    otherParameters: setOnly(others),
  }
}

const setOnly = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

export const filesOf = (mounts: Record<string, string> | null | undefined): FileRow[] =>
  Object.entries(mounts ?? {}).map(([path, content]) => ({ path, content }))

/** The values that create such a devbox, from a template or an existing devbox. */
export const formValuesOf = (body: Template): DevboxFormValues => {
  const blueprint = body.blueprint_id ?? body.blueprint_name ?? ''
  const isMode = body.tunnel?.auth_mode === 'open' || body.tunnel?.auth_mode === 'authenticated'
  return {
    ...emptyValues,
    ...launchValuesOf(body.launch_parameters ?? {}),
    name: body.name ?? '',
    source: body.snapshot_id ? 'snapshot' : blueprint ? 'blueprint' : 'empty',
    snapshot: body.snapshot_id ?? '',
    blueprint,
    blueprintName: body.blueprint_id ? '' : blueprint,
    metadata: rowsOf(body.metadata),
    environment: rowsOf(body.environment_variables),
    secrets: rowsOf(body.secrets),
    entrypoint: body.entrypoint ?? '',
    files: filesOf(body.file_mounts),
    mounts: mountRowsOf(body.mounts ?? []),
    gateways: proxyRowsOf(body.gateways),
    mcpServers: proxyRowsOf(body.mcp),
    tunnel: isMode ? (body.tunnel?.auth_mode as DevboxFormValues['tunnel']) : '',
  }
}

/** The API doesn't return a devbox's environment, secrets, entrypoint and files. */
export const formValuesLike = (devbox: Devbox): DevboxFormValues =>
  formValuesOf({
    name: devbox.name,
    metadata: devbox.metadata,
    launch_parameters: devbox.launch_parameters,
    snapshot_id: devbox.snapshot_id,
    blueprint_id: devbox.blueprint_id,
    tunnel: devbox.tunnel,
    gateways: specsOf(devbox.gateway_specs, ({ gateway_config_id, secret_id }) => ({
      gateway: gateway_config_id,
      secret: secret_id,
    })),
    mcp: specsOf(devbox.mcp_specs, ({ mcp_config_id, secret_id }) => ({
      mcp_config: mcp_config_id,
      secret: secret_id,
    })),
  })

const specsOf = <Spec>(specs: Record<string, Spec> | null | undefined, requestOf: (spec: Spec) => object) =>
  Object.fromEntries(Object.entries(specs ?? {}).map(([variable, spec]) => [variable, requestOf(spec)]))

export const rowsOf = (map: Record<string, string> | null | undefined): KeyValueRow[] =>
  Object.entries(map ?? {}).map(([key, value]) => ({ key, value }))

/** The form field for a request path in an error of the service. */
export const fieldOfPath = (path: string): FormField | undefined => fieldIn(path, wireFields)

export const fieldIn = <Field>(path: string, fields: readonly (readonly [string, Field])[]): Field | undefined =>
  fields.find(([wire]) => path === wire || path.startsWith(`${wire}.`) || path.startsWith(`${wire}[`))?.[1]

export const launchWireFields: readonly (readonly [string, keyof LaunchValues])[] = [
  ['launch_parameters.resource_size_request', 'size'],
  ['launch_parameters.custom_cpu_cores', 'cpuCores'],
  ['launch_parameters.custom_gb_memory', 'memoryGb'],
  ['launch_parameters.custom_disk_size', 'diskGb'],
  ['launch_parameters.keep_alive_time_seconds', 'keepAlive'],
  ['launch_parameters.after_idle', 'idleSeconds'],
  ['launch_parameters.launch_commands', 'launchCommands'],
  ['launch_parameters.network_policy_id', 'networkPolicy'],
  ['launch_parameters.architecture', 'architecture'],
  ['launch_parameters.provisioning_tier', 'tier'],
  ['launch_parameters.available_ports', 'ports'],
  ['launch_parameters.user_parameters.uid', 'uid'],
  ['launch_parameters.user_parameters', 'username'],
  ['launch_parameters.required_services', 'services'],
  ['launch_parameters.lifecycle.lifecycle_hooks', 'suspendCommands'],
  ['launch_parameters.lifecycle.resume_triggers', 'resumeOn'],
]

const wireFields: readonly (readonly [string, FormField])[] = [
  ['name', 'name'],
  ['snapshot_id', 'snapshot'],
  ['blueprint_id', 'blueprint'],
  ['blueprint_name', 'blueprint'],
  ...launchWireFields,
  ['metadata', 'metadata'],
  ['environment_variables', 'environment'],
  ['secrets', 'secrets'],
  ['entrypoint', 'entrypoint'],
  ['file_mounts', 'files'],
  ['mounts', 'mounts'],
  ['gateways', 'gateways'],
  ['mcp', 'mcpServers'],
  ['tunnel', 'tunnel'],
]
