import { existsSync } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { StringMap } from '#lib/contract/common.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import type { Warning } from '../outcome.ts'
import { readTomlText } from '../toml-file.ts'
import { plainImage } from './build/base-image.ts'
import { composeVariables, readCompose } from './compose/compose.ts'
import { tooMuch } from './resources.ts'
import {
  composeFile,
  type EnvironmentOptions,
  networkModeOf,
  type TaskEnvironment,
  taskEnvironmentOf,
} from './task-environment.ts'
import { type Healthcheck, type MinReward, type NetworkMode, newestSchema, TaskToml } from './task-toml.ts'

export interface Task {
  path: string
  name: string
  metadata: StringMap
  steps: TaskStep[]
  rewardStrategy: 'mean' | 'final'
  environment: TaskEnvironment
  solutionEnv: StringMap
  warnings: Warning[]
  /** Why its environment cannot be built here; null if it can. */
  unsupported: string | null
}

export interface TaskStep {
  name: string | null
  instruction: string
  agentTimeoutSeconds: number | null
  agentUser: string | null
  verifierUser: string | null
  verifierTimeoutSeconds: number
  verifierEnv: StringMap
  minReward: MinReward | null
  healthcheck: Healthcheck | null
  separateVerifier: SeparateVerifier | null
  /** Networks of its phases, where they can change: in containers. */
  agentNetwork: TaskEnvironment['network']
  verifierNetwork: TaskEnvironment['network']
  folder: string
}

export interface TaskProblem {
  file: string
  line?: number
  column?: number
  message: string
  differs?: boolean
}

export const sentenceOf = ({ file, line, column, message }: TaskProblem): string =>
  `${file}${line === undefined ? '' : ` line ${line}, column ${column}:`} ${message}`

const defaultVerifierSeconds = 600
const maxFileBytes = 1024 * 1024

export const readTask = async (
  path: string,
  { forceBuild = false, hasImages = false }: Partial<EnvironmentOptions> = {},
): Promise<{ task: Task; problems?: undefined } | { task?: undefined; problems: TaskProblem[] }> => {
  const problems: TaskProblem[] = []
  const report = (file: string, message: string) => problems.push({ file, message })
  const checkCompose = async (folder: string, environment: TaskEnvironment) => {
    if (environment.hasCompose) {
      const file = join(relative(path, folder), composeFile)
      const variables = composeVariables(environment, environment.env)
      const { problems: found = [] } = readCompose(await read(file), { folder, taskFolder: path, variables })
      for (const message of found) report(file, message)
    } else if (!hasImages && composeFiles.some((file) => existsSync(join(folder, file)))) {
      const message = 'needs Docker Compose, and with it a container engine (--engine)'
      problems.push({ file: relative(path, folder), message, differs: true })
    }
  }
  const read = async (file: string): Promise<string> => {
    try {
      return await readInside(path, file)
    } catch (error) {
      report(file, (error as Error).message)
      return ''
    }
  }
  const toml = await readToml(path, problems)
  if (!toml) return { problems }
  const stepTomls = stepsOf(toml)
  const modes = sharedModes(toml)
  const environmentFolder = join(path, 'environment')
  const environment = taskEnvironmentOf(toml.environment, {
    folder: environmentFolder,
    network: hasImages ? reachOf(networkModeOf(toml.environment)) : networkOf(toml, modes),
    forceBuild,
    hasImages,
  })

  const isImageOnly = environment.image !== '' && !existsSync(environmentFolder)
  if (!isImageOnly && !(await isFolderInside(path, 'environment')))
    report('environment', 'is missing: a task needs this folder or a docker_image')
  else await checkCompose(environmentFolder, environment)
  const hasTests = existsSync(join(path, 'tests', 'test.sh'))
  const requireTests = (folder: string, hasSeparateVerifier: boolean) => {
    if (hasTests || hasSeparateVerifier || existsSync(join(path, folder, 'test.sh'))) return
    report(`${folder}/test.sh`, 'is missing: a task needs it for its score')
  }
  const steps: TaskStep[] = []
  for (const step of stepTomls) {
    const folder = step.name === undefined ? '' : join('steps', step.name)
    const { agent, verifier, min_reward, healthcheck } = step
    const testsFolder = testsFolderOf(path, join(path, folder))
    const separateVerifier = separateVerifierOf(toml, step, {
      testsFolder,
      environmentFolder,
      forceBuild,
      hasImages,
    })
    if (separateVerifier) await checkCompose(testsFolder, separateVerifier.environment)
    if ([toml.verifier, verifier].some((each) => each?.environment && each.environment_mode === 'shared'))
      report('task.toml', 'has a [verifier.environment], but environment_mode is shared')
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
      agentNetwork: reachOf(agent?.network_mode ?? toml.agent?.network_mode ?? networkModeOf(toml.environment)),
      verifierNetwork: reachOf(
        verifier?.network_mode ?? toml.verifier?.network_mode ?? networkModeOf(toml.environment),
      ),
      folder: join(path, folder),
    })
  }
  for (const folder of ['tests', 'solution', 'steps'])
    if (existsSync(join(path, folder)) && !(await isFolderInside(path, folder)))
      report(folder, 'is not a folder of the task')
  if (problems.length > 0) return { problems }

  const separate = steps.flatMap(({ separateVerifier }) => separateVerifier ?? [])
  const environments = [environment, ...separate.map((each) => each.environment)]
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
        ...warningsOf(toml, modes, { hasUsers: hasImages || (await machine()).hasUsers, hasImages }),
        ...distinct(separate.flatMap(({ warnings }) => warnings)),
        ...distinct(environments.flatMap(tooMuch).map((sentence) => ({ sentence, differs: true }))),
        ...replacements(environments),
      ],
      unsupported: unsupportedOf(toml, environment, hasImages),
    },
  }
}

export const solutionOf = (task: Task, step: TaskStep): string | undefined =>
  [join(step.folder, 'solution'), join(task.path, 'solution')].find((folder) => existsSync(join(folder, 'solve.sh')))

const stepsOf = ({ steps = [] }: TaskToml): StepToml[] => (steps.length > 0 ? steps : [{}])

const distinct = (warnings: readonly Warning[]): Warning[] => [
  ...new Map(warnings.map((warning) => [warning.sentence, warning])).values(),
]

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

/** Rejects symbolic links that leave the task: the account that runs it could read any file. */
const readInside = async (folder: string, file: string): Promise<string> => {
  const path = await realpath(join(folder, file)).catch(() => undefined)
  if (path === undefined) throw new Error('is missing')
  if (!path.startsWith(folder + sep)) throw new Error('is outside the task')
  const stats = await stat(path)
  if (!stats.isFile()) throw new Error('is not a file')
  if (stats.size > maxFileBytes) throw new Error(`is longer than ${maxFileBytes} bytes`)
  return readFile(path, 'utf8')
}

const isFolderInside = async (folder: string, name: string): Promise<boolean> => {
  try {
    const path = await realpath(join(folder, name))
    return path.startsWith(folder + sep) && (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

/** Task sets contain canary lines to detect training on them; agents do not get these. */
const withoutCanary = (text: string): string => {
  const lines = text.split('\n')
  const isCanary = (line: string) => /^\s*(<!--.*canary.*-->|#.*canary.*)\s*$/i.test(line)
  let first = 0
  while (first < lines.length && isCanary(lines[first] ?? '')) first++
  if (first === 0) return text
  while (first < lines.length && lines[first]?.trim() === '') first++
  return lines.slice(first).join('\n')
}

const sharedModes = (toml: TaskToml): (NetworkMode | undefined)[] => {
  const { environment, agent, verifier } = toml
  const steps = stepsOf(toml)
  const shared = steps.filter((step) => !isSeparate(toml, step))
  const verifiers = shared.length > 0 ? [verifier, ...shared.map((step) => step.verifier)] : []
  return [environment, agent, ...steps.map((step) => step.agent), ...verifiers].map((each) => each?.network_mode)
}

const reachOf = (mode: NetworkMode): TaskEnvironment['network'] => (mode === 'public' ? 'host' : 'none')

/** Unspecified: tasks with an allowlist, or a network in some phases only. They get no network. */
const networkOf = ({ environment }: TaskToml, modes: readonly (NetworkMode | undefined)[]): 'host' | 'none' => {
  if (modes.some((mode) => mode !== undefined && mode !== 'public')) return 'none'
  return networkModeOf(environment) === 'public' ? 'host' : 'none'
}

const maxMetadata = 30
const maxMetadataLength = 256

const metadataOf = ({ metadata }: TaskToml): StringMap => {
  const isPlain = (value: unknown) => ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
  return Object.fromEntries(
    Object.entries(metadata ?? {})
      .filter(([, value]) => (Array.isArray(value) ? value.length > 0 && value.every(isPlain) : isPlain(value)))
      .slice(0, maxMetadata)
      .map(([key, value]) => [
        key.slice(0, maxMetadataLength),
        (Array.isArray(value) ? value.join(', ') : String(value)).slice(0, maxMetadataLength),
      ]),
  )
}

const userOf = (user: string | number | undefined) => (user === undefined ? null : String(user))

const warningsOf = (
  toml: TaskToml,
  modes: readonly (NetworkMode | undefined)[],
  { hasUsers, hasImages }: { hasUsers: boolean; hasImages: boolean },
): Warning[] => {
  const { environment, agent, verifier, steps = [] } = toml
  const phases = [agent, verifier, ...steps.flatMap((step) => [step.agent, step.verifier])]
  const taskMode = networkModeOf(environment)
  const users = [...new Set(phases.map((each) => each?.user))].filter((user) => user !== undefined && !isRoot(user))
  const all: [unknown, string][] = [
    [modes.includes('allowlist'), 'network_mode allowlist is not supported: the task has no network'],
    [
      !hasImages &&
        modes.some((mode) => mode === 'no-network' || mode === 'public') &&
        new Set(modes.map((mode) => mode ?? taskMode)).size > 1,
      'network_mode differs between phases: the task has no network in any of them',
    ],
    [!hasUsers && users.length, `user ${users.join(', ')} is ignored: devboxes have a single user here`],
    [
      isNewer(toml),
      `schema ${schemaOf(toml)} of task.toml is newer than ${newestSchema.join('.')}: new settings are ignored`,
    ],
    [!hasImages && environment?.mcp_servers?.length, 'mcp_servers are not started'],
    [!hasImages && environment?.skills_dir, 'skills_dir is not passed to agents'],
    [
      verifier?.collect?.length && !stepsOf(toml).some((step) => isSeparate(toml, step)),
      'verifier.collect only runs for separate verifiers',
    ],
  ]
  return [
    ...all.flatMap(([applies, sentence]) => (applies ? [{ sentence, differs: true }] : [])),
    ...[
      hasImages && environment?.mcp_servers?.length && 'mcp_servers are not passed to agents',
      hasImages && environment?.skills_dir && 'skills_dir is not passed to agents',
    ].flatMap((sentence) => (sentence ? [{ sentence, differs: false }] : [])),
    ...(toml.artifacts?.length
      ? [{ sentence: 'artifacts: only files in /logs/artifacts are kept', differs: false }]
      : []),
  ]
}

const schemaOf = ({ schema_version, version }: TaskToml): string => String(schema_version ?? version ?? '')

/** Like Harbor, ignores versions that are not numbers. */
const isNewer = (toml: TaskToml): boolean => {
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+))?(?:\.\d+)*$/.exec(schemaOf(toml).trim()) ?? []
  const [newest = 0, newestMinor = 0] = newestSchema
  return Number(major) > newest || (Number(major) === newest && Number(minor) > newestMinor)
}

const isRoot = (user: string | number) => user === 'root' || Number(user) === 0

const unsupportedOf = (
  toml: TaskToml,
  { hasDockerfile, hasCompose, image }: TaskEnvironment,
  hasImages: boolean,
): string | null => {
  const separate = stepsOf(toml).filter((step) => isSeparate(toml, step))
  const verifierEnvironments = separate.map(({ verifier }) => verifier?.environment ?? toml.verifier?.environment)
  for (const environment of [toml.environment, ...verifierEnvironments]) {
    if ((environment?.gpus ?? 0) > 0) return `The task needs ${environment?.gpus} GPUs, which devboxes do not have`
    if (environment?.tpu !== undefined) return 'The task needs a TPU, which devboxes do not have'
    if ((environment?.os ?? 'linux').toLowerCase() !== 'linux')
      return `The task needs ${environment?.os}; devboxes run Linux`
  }
  if (hasDockerfile || hasCompose) return null
  if (image === '') return 'environment/ has no Dockerfile'
  // Unspecified: a task with an image and no Dockerfile. A plain image is replaced by the devbox's own system.
  return hasImages || plainImage.test(image) ? null : `There is no Dockerfile, and image ${image} cannot be fetched`
}

/** Harbor does not build the Dockerfile of such tasks, which may give another image. */
const replacements = (environments: readonly TaskEnvironment[]): Warning[] =>
  [...new Set(environments.map((each) => each.imageReplaced))].flatMap((image) =>
    image
      ? [{ sentence: `The image ${image} cannot be fetched, so the Dockerfile is built instead`, differs: true }]
      : [],
  )

export interface SeparateVerifier {
  environment: TaskEnvironment
  /** False if the verifier's image has the tests. */
  getsTests: boolean
  artifacts: { source: string; exclude: string[] }[]
  /** Run in the agent's environment before copying; as the image's user by default. */
  collects: { command: string; timeoutSeconds: number; user: string | null }[]
  warnings: Warning[]
}

type VerifierToml = NonNullable<TaskToml['verifier']>
type StepToml = Partial<NonNullable<TaskToml['steps']>[number]>

const isSeparate = ({ verifier: whole }: TaskToml, { verifier }: StepToml): boolean => {
  const answer = (each: VerifierToml | undefined) =>
    each?.environment_mode === undefined ? each?.environment && true : each.environment_mode === 'separate'
  return answer(verifier) ?? answer(whole) ?? false
}

/** As in Harbor: `[verifier.environment]` or a copy of the task's, built from the Dockerfile next to the tests. */
const separateVerifierOf = (
  toml: TaskToml,
  step: StepToml,
  {
    testsFolder,
    environmentFolder,
    forceBuild,
    hasImages,
  }: EnvironmentOptions & { testsFolder: string; environmentFolder: string },
): SeparateVerifier | null => {
  if (!isSeparate(toml, step)) return null
  const { verifier, artifacts = [] } = step
  const whole = toml.verifier
  const given = verifier?.environment ?? whole?.environment
  const isBuilt = existsSync(join(testsFolder, 'Dockerfile'))
  const hasOwnImage = isBuilt || given?.docker_image !== undefined
  const mode = verifier?.network_mode ?? whole?.network_mode ?? networkModeOf(given ?? toml.environment)
  const copied = [...(toml.artifacts ?? []), ...artifacts].map((each) =>
    typeof each === 'string' ? { source: each, exclude: [] } : { source: each.source, exclude: each.exclude ?? [] },
  )
  const warnings: [unknown, string][] = [
    [
      !hasOwnImage && (given || toml.environment?.docker_image === undefined),
      "The separate verifier has neither a Dockerfile next to its tests nor a docker_image, which Harbor requires: it runs in a copy of the task's environment",
    ],
    [
      hasOwnImage && !isBuilt,
      `The tests are copied into the separate verifier: Harbor expects them in its image ${given?.docker_image}`,
    ],
    [mode === 'allowlist', 'network_mode allowlist is not supported: the separate verifier has no network'],
  ]
  return {
    environment: taskEnvironmentOf(
      { ...(given ?? toml.environment), docker_image: (hasOwnImage ? given : toml.environment)?.docker_image },
      {
        folder: hasOwnImage ? testsFolder : environmentFolder,
        network: mode === 'public' ? 'host' : 'none',
        forceBuild,
        hasImages,
      },
    ),
    getsTests: !isBuilt,
    artifacts: [{ source: '/logs/artifacts', exclude: [] }, ...copied],
    collects: [...(whole?.collect ?? []), ...(verifier?.collect ?? [])].map(({ command, timeout_sec, user }) => ({
      command,
      timeoutSeconds: timeout_sec ?? defaultCollectSeconds,
      user: user === undefined ? null : String(user),
    })),
    warnings: warnings.flatMap(([applies, sentence]) => (applies ? [{ sentence, differs: true }] : [])),
  }
}

const defaultCollectSeconds = 60

const testsFolderOf = (path: string, folder: string): string =>
  [join(folder, 'tests'), join(path, 'tests')].find((each) => existsSync(each)) ?? join(path, 'tests')
