import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'

/** The text that fnmatch takes for exactly this name. */
const exactly = (name: string) => name.replace(/[*?[]/g, '[$&]')

const baseName = (path: unknown) => (typeof path === 'string' ? path.replace(/\/+$/, '').split('/').at(-1) : undefined)

/**
 * A Harbor job file narrowed to tasks of these names, its comments and all else as they were. Which of several datasets
 * a task came from its name does not tell.
 */
export const narrowedToTasks = (yaml: string, tasks: readonly string[]): { yaml: string } | { refusal: string } => {
  const file = parseDocument(yaml)
  const [datasets, single] = [file.get('datasets'), file.get('tasks')]
  if (file.errors.length > 0) return { refusal: 'The job file cannot be read' }
  const sets = isSeq(datasets) ? (datasets as YAMLSeq<YAMLMap>) : null
  const paths = isSeq(single) ? (single as YAMLSeq<YAMLMap>) : null
  const [first] = sets?.items ?? []
  if (sets && sets.items.length === 1 && isMap(first) && !paths) {
    first.set('task_names', tasks.map(exactly))
    first.delete('n_tasks')
    return { yaml: file.toString() }
  }
  if (paths && !sets) {
    const kept = paths.items.filter((item) => isMap(item) && tasks.includes(baseName(item.get('path')) ?? ''))
    if (kept.length === tasks.length) {
      paths.items = kept
      return { yaml: file.toString() }
    }
  }
  return {
    refusal:
      'The job file takes its tasks from several places, and a name does not tell from which: clone the job and name the tasks',
  }
}
