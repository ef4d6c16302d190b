import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import type { Devbox, DevboxCreate } from '#lib/contract/devboxes.ts'
import { type LaunchParameters, maxKeepAliveSeconds, type resourceSizes } from '#lib/contract/launch-parameters.ts'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'

/** A file that a devbox begins with. */
export interface FileRow {
  path: string
  content: string
}

/** A devbox as the form has it: what was typed, whether or not it can be sent. */
export interface DevboxDraft {
  name: string
  source: 'empty' | 'snapshot' | 'blueprint'
  snapshot: string
  /** An id or a name. */
  blueprint: string
  size: '' | (typeof resourceSizes)[number]
  cpuCores: string
  memoryGb: string
  diskGb: string
  keepAlive: string
  idle: '' | 'shutdown' | 'suspend'
  idleSeconds: string
  metadata: KeyValueRow[]
  environment: KeyValueRow[]
  /** Variables, and the names of the secrets they hold. */
  secrets: KeyValueRow[]
  /** One a line. */
  launchCommands: string
  entrypoint: string
  files: FileRow[]
  tunnel: '' | NonNullable<TunnelOptions['auth_mode']>
  networkPolicy: string
  /** Launch parameters that the form has no field for, from the devbox it was made like. */
  otherParameters: Partial<LaunchParameters>
}

/** What every group of fields in the dialog is given. */
export interface DraftFieldsProps {
  draft: DevboxDraft
  edit: (part: Partial<DevboxDraft>) => void
  errorAt: (field: keyof DevboxDraft) => string | null
}

export const emptyDraft: DevboxDraft = {
  name: '',
  source: 'empty',
  snapshot: '',
  blueprint: '',
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
  tunnel: '',
  networkPolicy: '',
  otherParameters: {},
}

export type DraftProblems = Partial<Record<keyof DevboxDraft, string>>

/** The call that makes the devbox, or what stands against it by field. */
export const readDraft = (draft: DevboxDraft): { problems: DraftProblems; body?: DevboxCreate } => {
  const problems: DraftProblems = {}
  const mapOf = (field: 'metadata' | 'environment' | 'secrets') => {
    const read = rowsToMap(draft[field])
    if (!read.ok) problems[field] = read.message
    return read.ok ? read.map : {}
  }
  const numberOf = (field: 'keepAlive' | 'idleSeconds' | 'cpuCores' | 'memoryGb' | 'diskGb', most?: number) => {
    const text = draft[field].trim()
    const isWhole = field !== 'cpuCores'
    const value = Number(text)
    const isGood = (isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text) && value > 0 && value <= (most ?? Infinity)
    if (text !== '' && !isGood)
      problems[field] =
        `Must be a ${isWhole ? 'whole ' : ''}number above 0${most ? `, at most ${most} (48 hours)` : ''}`
    return text !== '' && isGood ? value : undefined
  }
  const filled = (field: 'snapshot' | 'blueprint' | 'idleSeconds' | 'cpuCores' | 'memoryGb', what: string) => {
    if (draft[field].trim() === '') problems[field] ??= `${what} is needed`
  }

  const [metadata, environment, secrets] = [mapOf('metadata'), mapOf('environment'), mapOf('secrets')]
  const keepAlive = numberOf('keepAlive', maxKeepAliveSeconds)
  const isCustom = draft.size === 'CUSTOM_SIZE'
  const custom = isCustom && {
    custom_cpu_cores: numberOf('cpuCores'),
    custom_gb_memory: numberOf('memoryGb'),
    custom_disk_size: numberOf('diskGb'),
  }
  if (isCustom) {
    filled('cpuCores', 'A number of cores')
    filled('memoryGb', 'A size of memory')
  }
  const idleSeconds = draft.idle ? numberOf('idleSeconds') : undefined
  if (draft.idle) filled('idleSeconds', 'A time')
  if (draft.source === 'snapshot') filled('snapshot', 'A snapshot')
  if (draft.source === 'blueprint') filled('blueprint', 'A blueprint')
  const files = draft.files.filter(({ path, content }) => path.trim() !== '' || content !== '')
  const paths = files.map(({ path }) => path.trim())
  const nameless = paths.indexOf('')
  const twice = paths.find((path, at) => paths.indexOf(path) !== at)
  if (nameless !== -1) problems.files = 'A file has text but no path'
  else if (twice !== undefined) problems.files = `${twice} is given twice`
  if (Object.keys(problems).length > 0) return { problems }

  const launchCommands = draft.launchCommands.split('\n').filter((line) => line.trim() !== '')
  const launch: LaunchParameters = given({
    ...draft.otherParameters,
    resource_size_request: draft.size || undefined,
    ...custom,
    keep_alive_time_seconds: keepAlive,
    after_idle: draft.idle && idleSeconds ? { idle_time_seconds: idleSeconds, on_idle: draft.idle } : undefined,
    launch_commands: launchCommands.length > 0 ? launchCommands : undefined,
    network_policy_id: draft.networkPolicy.trim() || undefined,
  })
  const blueprint = draft.source === 'blueprint' ? draft.blueprint.trim() : ''
  const body: DevboxCreate = given({
    name: draft.name.trim() || undefined,
    snapshot_id: draft.source === 'snapshot' ? draft.snapshot.trim() : undefined,
    blueprint_id: blueprint.startsWith('bpt_') ? blueprint : undefined,
    blueprint_name: blueprint && !blueprint.startsWith('bpt_') ? blueprint : undefined,
    metadata: filledMap(metadata),
    environment_variables: filledMap(environment),
    secrets: filledMap(secrets),
    launch_parameters: filledMap(launch),
    entrypoint: draft.entrypoint.trim() || undefined,
    file_mounts: filledMap(Object.fromEntries(files.map(({ path, content }) => [path.trim(), content]))),
    tunnel: draft.tunnel ? { auth_mode: draft.tunnel } : undefined,
  })
  return { problems, body }
}

const given = <Fields extends object>(fields: Fields): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

const filledMap = <Fields extends object>(map: Fields): Fields | undefined =>
  Object.keys(map).length > 0 ? map : undefined

type Template = Omit<DevboxCreate, 'tunnel'> & { tunnel?: TunnelOptions | Pick<Tunnel, 'auth_mode'> | null | undefined }

/** The draft that makes such a devbox: from the call of a template, or from a devbox, which tells less. */
export const draftOf = (body: Template): DevboxDraft => {
  const launch = body.launch_parameters ?? {}
  const {
    resource_size_request,
    custom_cpu_cores,
    custom_gb_memory,
    custom_disk_size,
    keep_alive_time_seconds,
    after_idle,
    launch_commands,
    network_policy_id,
    ...others
  } = launch
  const blueprint = body.blueprint_id ?? body.blueprint_name ?? ''
  const text = (value: number | null | undefined) => (value == null ? '' : String(value))
  const isMode = body.tunnel?.auth_mode === 'open' || body.tunnel?.auth_mode === 'authenticated'
  return {
    ...emptyDraft,
    name: body.name ?? '',
    source: body.snapshot_id ? 'snapshot' : blueprint ? 'blueprint' : 'empty',
    snapshot: body.snapshot_id ?? '',
    blueprint,
    size: resource_size_request ?? '',
    cpuCores: text(custom_cpu_cores),
    memoryGb: text(custom_gb_memory),
    diskGb: text(custom_disk_size),
    keepAlive: text(keep_alive_time_seconds),
    idle: after_idle?.on_idle ?? '',
    idleSeconds: text(after_idle?.idle_time_seconds),
    metadata: rowsOf(body.metadata),
    environment: rowsOf(body.environment_variables),
    secrets: rowsOf(body.secrets),
    launchCommands: (launch_commands ?? []).join('\n'),
    entrypoint: body.entrypoint ?? '',
    files: Object.entries(body.file_mounts ?? {}).map(([path, content]) => ({ path, content })),
    tunnel: isMode ? (body.tunnel?.auth_mode as DevboxDraft['tunnel']) : '',
    networkPolicy: network_policy_id ?? '',
    otherParameters: Object.fromEntries(Object.entries(others).filter(([, value]) => value != null)),
  }
}

/** What a devbox tells of how it was made: neither environment nor secrets, entrypoint or files. */
export const draftLike = (devbox: Devbox): DevboxDraft =>
  draftOf({
    name: devbox.name,
    metadata: devbox.metadata,
    launch_parameters: devbox.launch_parameters,
    snapshot_id: devbox.snapshot_id,
    blueprint_id: devbox.blueprint_id,
    tunnel: devbox.tunnel,
  })

const rowsOf = (map: Record<string, string> | null | undefined): KeyValueRow[] =>
  Object.entries(map ?? {}).map(([key, value]) => ({ key, value }))

/** The field of the form that a refusal is about, by the path in the request that the service names. */
export const draftFieldOf = (path: string): keyof DevboxDraft | undefined =>
  wireFields.find(([wire]) => path === wire || path.startsWith(`${wire}.`) || path.startsWith(`${wire}[`))?.[1]

const wireFields: readonly (readonly [string, keyof DevboxDraft])[] = [
  ['name', 'name'],
  ['snapshot_id', 'snapshot'],
  ['blueprint_id', 'blueprint'],
  ['blueprint_name', 'blueprint'],
  ['launch_parameters.resource_size_request', 'size'],
  ['launch_parameters.custom_cpu_cores', 'cpuCores'],
  ['launch_parameters.custom_gb_memory', 'memoryGb'],
  ['launch_parameters.custom_disk_size', 'diskGb'],
  ['launch_parameters.keep_alive_time_seconds', 'keepAlive'],
  ['launch_parameters.after_idle', 'idleSeconds'],
  ['launch_parameters.launch_commands', 'launchCommands'],
  ['launch_parameters.network_policy_id', 'networkPolicy'],
  ['metadata', 'metadata'],
  ['environment_variables', 'environment'],
  ['secrets', 'secrets'],
  ['entrypoint', 'entrypoint'],
  ['file_mounts', 'files'],
  ['tunnel', 'tunnel'],
]
