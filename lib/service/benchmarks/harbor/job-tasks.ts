import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import type { ChosenTask, HarborScenario } from '../plan.ts'
import { unknownImage } from './build/base-image.ts'
import { SandboxBuildFailedError } from './build/dockerfile.ts'
import { planBuild } from './build/plan.ts'
import { checksumOf, findFolder, isTaskFolder, taskFolders } from './datasets.ts'
import { isSet, type JobFile } from './job-schema.ts'
import { matcherOf } from './names.ts'
import { readTask, sentenceOf, type Task } from './task.ts'
import type { EnvironmentOptions } from './task-environment.ts'
import type { Path } from './yaml-source.ts'

export interface TaskReader {
  datasetRoots: readonly string[]
  report(path: Path, message: string): void
  warn(sentence: string): void
}

export const chooseTasks = async (file: JobFile, reader: TaskReader): Promise<ChosenTask[]> => {
  const chosen: ChosenTask[] = []
  for (const [i, dataset] of (file.datasets ?? []).entries()) {
    const at: Path = ['datasets', i]
    const folder = await folderOf(reader, dataset, at, 'dataset')
    if (folder === undefined) continue
    for (const name of await selectTasks(reader, folder, dataset, at))
      chosen.push({ path: join(folder, name), source: basename(folder) })
  }
  for (const [i, task] of (file.tasks ?? []).entries()) {
    const at: Path = ['tasks', i]
    const path = await folderOf(reader, task, at, 'task')
    if (path === undefined) continue
    if (await isTaskFolder(path)) chosen.push({ path, source: task.source ?? null })
    else reader.report([...at, 'path'], `${task.path} is not a task: it has no task.toml`)
  }
  const lists = [...(file.datasets ?? []), ...(file.tasks ?? [])]
  if (lists.length === 0) reader.report([], 'The job has no scenarios: add a dataset or task')
  const once = new Map(chosen.map((task) => [`${task.source ?? basename(dirname(task.path))} ${task.path}`, task]))
  if (once.size < chosen.length) reader.warn('Duplicate tasks run once')
  return [...once.values()]
}

const folderOf = async (
  reader: TaskReader,
  origin: Origin,
  at: Path,
  kind: 'dataset' | 'task',
): Promise<string | undefined> => {
  const { datasetRoots } = reader
  const remote = (['registry', 'registry_url', 'registry_path', 'repo', 'git_url', 'git_commit_id'] as const).find(
    (key) => isSet(origin[key]),
  )
  const folder = origin.path ? await findFolder(origin.path, datasetRoots) : undefined
  if (remote !== undefined) {
    const where = remote.startsWith('registry') ? 'a registry' : 'a git repository'
    reader.report([...at, remote], `${remote}: ${kind}s cannot be fetched from ${where}; use a local folder (path)`)
  } else if (origin.name != null)
    reader.report(
      [...at, 'name'],
      origin.path == null
        ? `${origin.name} is in a registry, which is not supported; use a local folder (path)`
        : `A ${kind} has either a path or a name`,
    )
  else if (!origin.path) reader.report(at, `This ${kind} has no path`)
  else if (folder !== undefined) return folder
  else
    reader.report(
      [...at, 'path'],
      datasetRoots.length === 0
        ? 'The service was started without --datasets, so it can use no folders'
        : `${origin.path} is not a folder below those given with --datasets`,
    )
  return undefined
}

const selectTasks = async (
  reader: TaskReader,
  folder: string,
  dataset: Listed<'datasets'>,
  at: Path,
): Promise<string[]> => {
  const all = await taskFolders(folder)
  const examples = all.slice(0, 5).join(', ')
  if (all.length === 0) {
    const hint = (await isTaskFolder(folder)) ? 'is itself a task: list it under tasks' : 'has no tasks'
    reader.report([...at, 'path'], `${dataset.path} ${hint}`)
    return []
  }
  const { task_names: namePatterns, exclude_task_names: excludePatterns, n_tasks } = dataset
  const found = namePatterns?.length ? await matchingNames(all, namePatterns) : all
  if (found.length === 0) {
    reader.report([...at, 'task_names'], `task_names matches no task of ${dataset.path}; its tasks include ${examples}`)
    return []
  }
  for (const pattern of namePatterns ?? []) {
    if (!all.some(matcherOf(pattern))) reader.warn(`datasets[${at[1]}].task_names: ${pattern} matches no task`)
    await nextTurn()
  }
  const excluded = new Set(excludePatterns ? await matchingNames(found, excludePatterns) : [])
  const left = found.filter((name) => !excluded.has(name))
  if (left.length === 0)
    reader.report(
      [...at, 'exclude_task_names'],
      `exclude_task_names excludes all tasks of ${dataset.path}: ${found.slice(0, 5).join(', ')}`,
    )
  return left.slice(0, n_tasks ?? undefined)
}

/** Yields between names: a file may have thousands of patterns for thousands of names. */
const matchingNames = async (names: readonly string[], patterns: readonly string[]): Promise<string[]> => {
  const matchers = patterns.map(matcherOf)
  const found: string[] = []
  for (const name of names) {
    if (matchers.some((matches) => matches(name))) found.push(name)
    await nextTurn()
  }
  return found
}

/** More would only wait for the disk. */
const readAtOnce = 32

export interface ReadTask {
  scenario: HarborScenario
  instruction: string
}

export async function* readTasks(
  account: string,
  chosen: readonly ChosenTask[],
  how: EnvironmentOptions,
): AsyncGenerator<ReadTask[]> {
  const known = new Set<string>()
  for (let i = 0; i < chosen.length; i += readAtOnce) {
    const part = await Promise.all(chosen.slice(i, i + readAtOnce).map((each) => readOne(account, each, how)))
    yield part.filter(({ scenario: { id } }) => !known.has(id) && known.add(id))
  }
}

/** An invalid task has a scenario, too: its trials fail with the reason, and the rest of the job runs. */
const readOne = async (account: string, { path, source }: ChosenTask, how: EnvironmentOptions): Promise<ReadTask> => {
  const { task, problems = [] } = await readTask(path, how)
  const warnings = task
    ? await warningsOf(task, how)
    : problems.map((problem) => `cannot be run: ${sentenceOf(problem)}`)
  const checksum = await checksumOf(path).catch((error: Error) => {
    warnings.push(`cannot be read: ${error.message}`)
    return ''
  })
  const name = task?.name ?? basename(path)
  const origin = [source ?? basename(dirname(path)), basename(path), name]
  const instruction = (task?.steps ?? []).map((step) => step.instruction).join('\n\n')
  return {
    scenario: {
      id: scenarioId([account, ...origin, checksum]),
      name,
      source,
      path,
      checksum,
      metadata: task?.metadata ?? {},
      warnings,
    },
    instruction,
  }
}

const warningsOf = async (task: Task, { hasImages }: EnvironmentOptions): Promise<string[]> => {
  const sentences = task.warnings.map(({ sentence }) => sentence)
  if (task.unsupported) return [...sentences, task.unsupported]
  if (hasImages) return sentences
  const verifiers = task.steps.map(({ separateVerifier }) => separateVerifier?.environment)
  const built = [task.environment, ...verifiers].flatMap((each) => (each?.hasDockerfile ? [each.folder] : []))
  const fromBuilds = await Promise.all([...new Set(built)].map(buildWarnings))
  return [...new Set([...sentences, ...fromBuilds.flat()])]
}

const buildWarnings = async (folder: string): Promise<string[]> => {
  try {
    const { warnings, image } = planBuild(await readFile(join(folder, 'Dockerfile'), 'utf8'), await machine())
    return [...warnings.map(({ sentence }) => sentence), ...unknownImage(image)]
  } catch (error) {
    if (!(error instanceof SandboxBuildFailedError)) throw error
    return [error.message]
  }
}

type Origin = Partial<Listed<'datasets'> & Listed<'tasks'>>
type Listed<K extends 'datasets' | 'tasks'> = NonNullable<JobFile[K]>[number]

/** Scenario ids have the format of other ids. */
const scenarioId = (parts: readonly string[]) =>
  `scn_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 26)}`
