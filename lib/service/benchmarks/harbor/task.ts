import { existsSync } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { StringMap } from '#lib/contract/common.ts'
import { machine } from '#lib/service/sandbox/system.ts'
import type { Warning } from '../outcome.ts'
import { readTomlText } from '../toml-file.ts'
import { plainImage } from './base-image.ts'
import { tooMuch } from './resources.ts'
import { type Environment, type Healthcheck, type MinReward, TaskToml } from './task-toml.ts'

/** A task directory as it is now. */
export interface Task {
  path: string
  name: string
  /** What its author says of it, as text. */
  metadata: StringMap
  /** A task without steps has a single one whose name is null. */
  steps: TaskStep[]
  rewardStrategy: 'mean' | 'final'
  environment: TaskEnvironment
  solutionEnv: StringMap
  warnings: Warning[]
  /** Why its environment cannot be built here; null when it may be. */
  unsupported: string | null
}

export interface TaskStep {
  name: string | null
  instruction: string
  agentTimeoutSeconds: number | null
  /** Who the agent and the verifier run as; null where the task does not say it. */
  agentUser: string | null
  verifierUser: string | null
  verifierTimeoutSeconds: number
  verifierEnv: StringMap
  minReward: MinReward | null
  healthcheck: Healthcheck | null
  /** The environment of its own that its verifier runs in; null where it runs in that of the agent. */
  separateVerifier: SeparateVerifier | null
  /** Where its own `tests`, `solution` and `workdir` are. */
  folder: string
}

export interface SeparateVerifier {
  environment: TaskEnvironment
  /** Whether the tests are put into it; those of an image of its own are in the image. */
  getsTests: boolean
  /** What is copied to it out of the agent's environment, in this order, each to the same place. */
  artifacts: { source: string; exclude: string[] }[]
  /** What runs in the agent's environment before that, as the user of the image unless it says another. */
  collects: { command: string; timeoutSeconds: number | null; user: string | null }[]
}

export interface TaskEnvironment {
  buildTimeoutSeconds: number
  workdir: string | null
  env: StringMap
  healthcheck: Healthcheck | null
  network: 'host' | 'none'
  cpus: number | null
  memoryMb: number | null
  storageMb: number | null
  hasDockerfile: boolean
  /** Where the Dockerfile is, with what it copies. */
  folder: string
  /** The image that it begins with as it is; empty where a Dockerfile is built. */
  image: string
  /** Whether the files in `folder` are put into the work directory, as Harbor does where there is no Dockerfile. */
  hasFiles: boolean
  /** The image that was built elsewhere, and cannot be fetched, in whose place a Dockerfile is built. */
  imageReplaced: string | null
}

/** Why a directory is not a task; with a line where the mistake is in a file. */
export interface TaskProblem {
  /** Below the task's directory. */
  file: string
  line?: number
  column?: number
  message: string
  /** Whether it is a task elsewhere. */
  differs?: boolean
}

export const sentenceOf = ({ file, line, column, message }: TaskProblem): string =>
  `${file}${line === undefined ? '' : ` line ${line}, column ${column}:`} ${message}`

const defaultVerifierSeconds = 600
const defaultBuildSeconds = 600
const maxFileBytes = 1024 * 1024

/**
 * Reads a task, or tells everything that is wrong with it. `forceBuild` asks for its Dockerfile where Harbor takes an
 * image that was built before.
 */
export const readTask = async (
  path: string,
  { forceBuild = false } = {},
): Promise<{ task: Task; problems?: undefined } | { task?: undefined; problems: TaskProblem[] }> => {
  const problems: TaskProblem[] = []
  const complain = (file: string, message: string) => problems.push({ file, message })
  const read = async (file: string): Promise<string> => {
    try {
      return await readInside(path, file)
    } catch (error) {
      complain(file, (error as Error).message)
      return ''
    }
  }
  const toml = await readToml(path, problems)
  if (!toml) return { problems }
  const place = { folder: join(path, 'environment'), network: networkOf(toml), forceBuild }
  const environment = environmentOf(toml.environment, place)

  const hasSteps = (toml.steps?.length ?? 0) > 0
  const isImageAlone = environment.image !== '' && !existsSync(join(path, 'environment'))
  if (!isImageAlone && !(await isFolderInside(path, 'environment')))
    complain('environment', 'is missing: a task has this folder, or names a docker_image')
  else if (composeFiles.some((file) => existsSync(join(path, 'environment', file))))
    problems.push({
      file: 'environment',
      message: 'is built by Docker Compose, which this service cannot do: it runs tasks without Docker',
      differs: true,
    })
  const hasTests = existsSync(join(path, 'tests', 'test.sh'))
  const requireTests = (folder: string, isJudgedElsewhere: boolean) => {
    if (hasTests || isJudgedElsewhere || existsSync(join(path, folder, 'test.sh'))) return
    complain(`${folder}/test.sh`, 'is missing: without it nothing tells the score')
  }
  const steps: TaskStep[] = []
  for (const step of hasSteps ? (toml.steps ?? []) : [wholeTask]) {
    const folder = step.name === undefined ? '' : join('steps', step.name)
    const { agent, verifier, min_reward, healthcheck } = step
    const separateVerifier = separateVerifierOf(toml, step, {
      path,
      folder: join(path, folder),
      environment,
      forceBuild,
    })
    requireTests(join(folder, 'tests'), separateVerifier !== null)
    steps.push({
      name: step.name ?? null,
      instruction: withoutCanary(await read(join(folder, 'instruction.md'))),
      agentTimeoutSeconds: agent?.timeout_sec ?? toml.agent?.timeout_sec ?? null,
      agentUser: userOf(agent?.user ?? toml.agent?.user),
      verifierUser: userOf(verifier?.user ?? toml.verifier?.user),
      verifierTimeoutSeconds: verifier?.timeout_sec ?? toml.verifier?.timeout_sec ?? defaultVerifierSeconds,
      verifierEnv: { ...toml.verifier?.env, ...verifier?.env },
      minReward: min_reward ?? null,
      healthcheck: healthcheck ?? null,
      separateVerifier,
      folder: join(path, folder),
    })
  }
  for (const folder of ['tests', 'solution', 'steps'])
    if (existsSync(join(path, folder)) && !(await isFolderInside(path, folder)))
      complain(folder, 'is no folder of the task')
  if (problems.length > 0) return { problems }

  return {
    task: {
      path,
      name: toml.task?.name ?? basename(path),
      metadata: metadataOf(toml),
      steps,
      rewardStrategy: toml.multi_step_reward_strategy ?? 'mean',
      environment,
      solutionEnv: toml.solution?.env ?? {},
      warnings: [
        ...warningsOf(toml, (await machine()).hasUsers),
        ...tooMuch(environment).map((sentence) => ({ sentence, differs: true })),
        ...replacements([environment, ...steps.map((step) => step.separateVerifier?.environment)]),
      ],
      unsupported: unsupportedOf(toml, environment),
    },
  }
}

/** The folder with the solution of a step: its own, or that of the whole task. */
export const solutionOf = (task: Task, step: TaskStep): string | undefined =>
  [join(step.folder, 'solution'), join(task.path, 'solution')].find((folder) => existsSync(join(folder, 'solve.sh')))

const wholeTask: Partial<NonNullable<TaskToml['steps']>[number]> = {}
const composeFiles = ['docker-compose.yaml', 'docker-compose.yml', 'compose.yaml', 'compose.yml']

const readToml = async (path: string, problems: TaskProblem[]): Promise<TaskToml | undefined> => {
  const file = 'task.toml'
  let text: string
  try {
    text = await readInside(path, file)
  } catch (error) {
    problems.push({ file, message: (error as Error).message })
    return undefined
  }
  const { data, problems: found = [] } = readTomlText(text, TaskToml)
  problems.push(...found.map((problem) => ({ file, ...problem })))
  return data
}

/**
 * The text of a file of a task. A link that leads out of the task is refused: the file would become readable for the
 * account that runs the task.
 */
const readInside = async (folder: string, file: string): Promise<string> => {
  const path = await realpath(join(folder, file)).catch(() => undefined)
  if (path === undefined) throw new Error('is missing')
  if (!path.startsWith(folder + sep)) throw new Error('leads out of the task')
  const stats = await stat(path)
  if (!stats.isFile()) throw new Error('is no file')
  if (stats.size > maxFileBytes) throw new Error(`is longer than ${maxFileBytes} bytes`)
  return readFile(path, 'utf8')
}

const isFolderInside = async (folder: string, name: string): Promise<boolean> => {
  try {
    const path = await realpath(join(folder, name))
    return path.startsWith(folder + sep) && (await stat(path)).isDirectory()
  } catch {
    // There is nothing of that name, or a link to nothing.
    return false
  }
}

/** Task sets mark their texts with canary lines, so that training data can be searched for them; agents do not get them. */
const withoutCanary = (text: string): string => {
  const lines = text.split('\n')
  const isCanary = (line: string) => /^\s*(<!--.*canary.*-->|#.*canary.*)\s*$/i.test(line)
  let first = 0
  while (first < lines.length && isCanary(lines[first] ?? '')) first++
  if (first === 0) return text
  while (first < lines.length && lines[first]?.trim() === '') first++
  return lines.slice(first).join('\n')
}

/** Sizes of before 1.1: `2G`, `512M`. */
const megabytes = (text: string | undefined): number | null => {
  const [, number, unit = 'M'] = /^(\d+(?:\.\d+)?)([KMGT])?i?B?$/i.exec(text ?? '') ?? []
  if (number === undefined) return null
  return Math.ceil(Number(number) * 1024 ** ('KMGT'.indexOf(unit.toUpperCase()) - 1))
}

/**
 * Unspecified: which network a task has that allows some hosts, or a network in some phases only. None, because a devbox
 * has all or nothing and the task must not be solved with hosts it does not allow.
 */
const networkOf = ({ environment, agent, verifier, steps }: TaskToml): 'host' | 'none' => {
  const modes = [environment, agent, verifier, ...(steps ?? []).flatMap((step) => [step.agent, step.verifier])]
  if (modes.some((each) => each?.network_mode !== undefined && each.network_mode !== 'public')) return 'none'
  return environment?.network_mode === undefined && environment?.allow_internet === false ? 'none' : 'host'
}

const mostMetadata = 30
const longestMetadata = 256

/** Scenarios are grouped by it: text, numbers, yes or no, and lists of those. */
const metadataOf = ({ metadata }: TaskToml): StringMap => {
  const isPlain = (value: unknown) => ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
  return Object.fromEntries(
    Object.entries(metadata ?? {})
      .filter(([, value]) => (Array.isArray(value) ? value.length > 0 && value.every(isPlain) : isPlain(value)))
      .slice(0, mostMetadata)
      .map(([key, value]) => [
        key.slice(0, longestMetadata),
        (Array.isArray(value) ? value.join(', ') : String(value)).slice(0, longestMetadata),
      ]),
  )
}

const userOf = (user: string | number | undefined) => (user === undefined ? null : String(user))

const warningsOf = (toml: TaskToml, hasUsers: boolean): Warning[] => {
  const { environment, agent, verifier, steps = [] } = toml
  const phases = [agent, verifier, ...steps.flatMap((step) => [step.agent, step.verifier])]
  const modes = [environment, ...phases].map((each) => each?.network_mode)
  const ofWhole = modes[0] ?? (environment?.allow_internet === false ? 'no-network' : 'public')
  const users = [...new Set(phases.map((each) => each?.user))].filter((user) => user !== undefined && !isRoot(user))
  const all: [unknown, string][] = [
    [modes.includes('allowlist'), 'network_mode allowlist: the task gets no network at all'],
    [
      modes.some((mode) => mode === 'no-network' || mode === 'public') &&
        new Set(modes.map((mode) => mode ?? ofWhole)).size > 1,
      'network_mode differs between phases: the task gets no network in any of them',
    ],
    [
      !hasUsers && users.length,
      `user ${users.join(', ')} is ignored: everything runs as the one user of the devbox here`,
    ],
    [environment?.mcp_servers?.length, 'mcp_servers are not started'],
    [environment?.skills_dir, 'skills_dir is not given to agents'],
    [
      verifier?.collect?.length && verifier.environment_mode !== 'separate' && !verifier.environment,
      'verifier.collect is run for separate verifiers only',
    ],
  ]
  return [
    ...all.flatMap(([applies, sentence]) => (applies ? [{ sentence, differs: true }] : [])),
    ...(toml.artifacts?.length
      ? [{ sentence: 'artifacts: only what is in /logs/artifacts is kept', differs: false }]
      : []),
  ]
}

const isRoot = (user: string | number) => user === 'root' || Number(user) === 0

const unsupportedOf = ({ environment }: TaskToml, { hasDockerfile, image }: TaskEnvironment): string | null => {
  if ((environment?.gpus ?? 0) > 0) return `The task needs ${environment?.gpus} GPUs, and devboxes have none`
  if ((environment?.os ?? 'linux') !== 'linux') return `The task runs on ${environment?.os}, and devboxes are linux`
  if (hasDockerfile) return null
  if (image === '') return 'environment/ has no Dockerfile'
  // Unspecified: how a task runs that names an image and has no Dockerfile. FROM is ignored, so a bare system will do.
  return plainImage.test(image) ? null : `There is no Dockerfile, and the image ${image} cannot be fetched`
}

/** Harbor does not build the Dockerfile of such tasks, and nothing here tells whether the image is what it would give. */
const replacements = (environments: readonly (TaskEnvironment | undefined)[]): Warning[] =>
  [...new Set(environments.map((each) => each?.imageReplaced))].flatMap((image) =>
    image
      ? [{ sentence: `The image ${image} cannot be fetched: the Dockerfile is built in its place`, differs: true }]
      : [],
  )

const environmentOf = (
  environment: Environment = {},
  { folder, network, forceBuild }: Pick<TaskEnvironment, 'folder' | 'network'> & { forceBuild: boolean },
): TaskEnvironment => {
  const image = environment.docker_image ?? ''
  // As in Harbor, an image that the task names comes before its Dockerfile.
  const isBuildable = existsSync(join(folder, 'Dockerfile'))
  const hasDockerfile = isBuildable && (forceBuild || !plainImage.test(image))
  return {
    buildTimeoutSeconds: environment.build_timeout_sec ?? defaultBuildSeconds,
    workdir: environment.workdir ?? null,
    env: environment.env ?? {},
    healthcheck: environment.healthcheck ?? null,
    network,
    cpus: environment.cpus ?? null,
    memoryMb: environment.memory_mb ?? megabytes(environment.memory),
    storageMb: environment.storage_mb ?? megabytes(environment.storage),
    hasDockerfile,
    folder,
    image: hasDockerfile ? '' : image,
    hasFiles: image !== '' && !isBuildable && existsSync(folder),
    imageReplaced: hasDockerfile && !forceBuild && image !== '' ? image : null,
  }
}

type StepToml = Partial<NonNullable<TaskToml['steps']>[number]>

/**
 * Where the verifier of a step runs apart from the agent: in an image of its own, which a Dockerfile in the tests or
 * `[verifier.environment]` describes, else in a fresh copy of the task's.
 */
const separateVerifierOf = (
  toml: TaskToml,
  { verifier, artifacts = [] }: StepToml,
  {
    path,
    folder,
    environment,
    forceBuild,
  }: { path: string; folder: string; environment: TaskEnvironment; forceBuild: boolean },
): SeparateVerifier | null => {
  const whole = toml.verifier
  const isSeparate = (each: typeof whole) =>
    each?.environment !== undefined || (each?.environment_mode && each.environment_mode === 'separate')
  if (!(isSeparate(verifier) ?? isSeparate(whole))) return null
  const given = verifier?.environment ?? whole?.environment
  const tests = [join(folder, 'tests'), join(path, 'tests')].find((each) => existsSync(join(each, 'Dockerfile')))
  const mode = given?.network_mode ?? (given?.allow_internet === false ? 'no-network' : undefined)
  const network = mode === undefined ? environment.network : mode === 'public' ? 'host' : 'none'
  const ofItsOwn = tests ?? (given?.docker_image === undefined ? environment.folder : join(path, 'tests'))
  const copied = [...(toml.artifacts ?? []), ...artifacts].map((each) =>
    typeof each === 'string' ? { source: each, exclude: [] } : { source: each.source, exclude: each.exclude ?? [] },
  )
  return {
    environment: given
      ? environmentOf(given, { folder: ofItsOwn, network, forceBuild })
      : { ...environment, ...folderAs(environment, ofItsOwn) },
    getsTests: tests === undefined,
    artifacts: [{ source: '/logs/artifacts', exclude: [] }, ...copied],
    collects: [...(whole?.collect ?? []), ...(verifier?.collect ?? [])].map(({ command, timeout_sec, user }) => ({
      command,
      timeoutSeconds: timeout_sec ?? null,
      user: userOf(user),
    })),
  }
}

const folderAs = ({ folder, hasDockerfile }: TaskEnvironment, other: string) =>
  other === folder
    ? { folder, hasDockerfile }
    : { folder: other, hasDockerfile: true, hasFiles: false, image: '', imageReplaced: null }
