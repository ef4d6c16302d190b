import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'

/** Escapes fnmatch patterns. */
const exactly = (name: string) => name.replace(/[*?[]/g, '[$&]')

const baseName = (path: unknown) => (typeof path === 'string' ? path.replace(/\/+$/, '').split('/').at(-1) : undefined)

/** Narrows a Harbor job file to these tasks, keeping its comments. Fails with several data sets, as names don't say which. */
export const narrowedToTasks = (yaml: string, tasks: readonly string[]): { yaml: string } | { refusal: string } => {
  const file = parseDocument(yaml)
  const [datasets, single] = [file.get('datasets'), file.get('tasks')]
  if (file.errors.length > 0) return { refusal: 'The job file is not valid YAML' }
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
    refusal: 'The job file has several task sources. Clone the job and list the tasks yourself.',
  }
}
