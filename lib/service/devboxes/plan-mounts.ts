import * as z from 'zod/mini'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { homeOf } from '#lib/service/domain/launch-parameters.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Objects } from '#lib/service/objects/objects.ts'
import type { AgentStore } from '#lib/service/store/agents.ts'
import { type SetupStep, setupStepsOf } from './agent-setup.ts'
import { invalidMount, type Mount, type MountField, mountArchive, mountFile, shellFolder } from './mounts.ts'

/** Records that mounts refer to. */
export interface MountSources {
  objects: Pick<Objects, 'requireComplete' | 'pathOf'>
  agents: Pick<AgentStore, 'get' | 'newest'>
}

interface PlannedMount {
  mounts?: Mount[]
  agentName?: string
  setup?: SetupStep[]
}

/** Throws 400 for invalid mounts and missing records, and 501 for other types. */
export const planMounts = (account: string, body: DevboxCreate, sources: MountSources) => {
  const home = homeOf(body.launch_parameters ?? {})
  const planned = (body.mounts ?? []).map((mount, i) =>
    planMount(account, mount, { field: `mounts[${i}]`, home }, sources),
  )
  return {
    mounts: [
      ...Object.entries(body.file_mounts ?? {}).map(([path, content]) =>
        mountFile({ field: 'file_mounts', home }, path, content),
      ),
      ...planned.flatMap(({ mounts = [] }) => mounts),
    ],
    setup: planned.flatMap(({ setup = [] }) => setup),
    agent_names: planned.flatMap(({ agentName }) => agentName ?? []),
  }
}

const unsupported = ['code_mount', 'broker_mount']
const FileMount = z.object({ target: z.string(), content: z.string() })
const ObjectMount = z.object({ object_id: z.string(), object_path: z.string() })
const text = z.nullish(z.string())
const AgentMount = z.object({ agent_id: text, agent_name: text, agent_path: text, auth_token: text })

const planMount = (account: string, mount: unknown, at: MountField, sources: MountSources): PlannedMount => {
  const { field } = at
  const type: unknown = (mount as { type?: unknown } | null)?.type
  if (type === 'file_mount') {
    const { target, content } = parse(FileMount, mount, field)
    return { mounts: [mountFile(at, target, content)] }
  }
  if (type === 'object_mount') {
    const { object_id, object_path } = parse(ObjectMount, mount, field)
    return { mounts: [mountObject(account, object_id, object_path, at, sources)] }
  }
  if (type === 'agent_mount') return planAgent(account, parse(AgentMount, mount, field), at, sources)
  if (typeof type === 'string' && unsupported.includes(type))
    throw new ServiceError('not_implemented', `${field}.type: ${type} is not supported by this service`, {
      field: `${field}.type`,
      shouldRetry: false,
    })
  throw invalidMount(`${field}.type`, 'is not a mount type')
}

const parse = <S extends z.ZodMiniObject>(schema: S, mount: unknown, field: string): z.output<S> => {
  const { data } = schema.safeParse(mount)
  if (data) return data
  throw invalidMount(field, `must have strings as ${Object.keys(schema.shape).join(' and ')}`)
}

/** Unpacks tar and tgz objects; writes others as they are. */
const mountObject = (account: string, id: string, path: string, at: MountField, { objects }: MountSources): Mount => {
  const { content_type } = objects.requireComplete(account, id, `${at.field}.object_id`)
  const file = objects.pathOf(id)
  return content_type === 'tar' || content_type === 'tgz'
    ? mountArchive(at, path, { file, isCompressed: content_type === 'tgz' })
    : mountFile(at, path, { file })
}

const planAgent = (
  account: string,
  { agent_id, agent_name, agent_path, auth_token }: z.output<typeof AgentMount>,
  at: MountField,
  sources: MountSources,
): PlannedMount => {
  const { field } = at
  const [by, wanted] = agent_id ? ['agent_id', agent_id] : ['agent_name', agent_name]
  if (!wanted) throw invalidMount(field, 'must have agent_id or agent_name')
  const agent = agent_id ? sources.agents.get(account, wanted) : sources.agents.newest(account, wanted)
  if (!agent) throw invalidMount(`${field}.${by}`, `agent ${wanted} not found`)
  const { name: agentName, version, source } = agent
  if (!source) throw invalidMount(`${field}.${by}`, `agent ${agentName} has no source`)
  const needsPath = source.type === 'git' || source.type === 'object'
  if (needsPath && !agent_path) throw invalidMount(`${field}.agent_path`, `is required for ${source.type} agents`)
  const path = agent_path ?? ''
  const mount = source.object && mountObject(account, source.object.object_id, path, at, sources)
  const isFolder = source.type === 'git' || (mount && 'archive' in mount)
  const folder = isFolder ? shellFolder({ ...at, field: `${field}.agent_path` }, path) : undefined
  const setup = setupStepsOf({ source, version, folder, token: auth_token })
  return { ...(mount && { mounts: [mount] }), agentName, setup }
}
