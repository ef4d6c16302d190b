export type MetadataChange =
  | { kind: 'added'; key: string; after: string }
  | { kind: 'removed'; key: string; before: string }
  | { kind: 'changed'; key: string; before: string; after: string }

type Metadata = Readonly<Record<string, string>>

/** What replacing `before` by `after` does to each key that differs, by key. */
export const metadataChanges = (before: Metadata, after: Metadata): MetadataChange[] => {
  const has = (metadata: Metadata, key: string) => Object.hasOwn(metadata, key)
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.flatMap((key): MetadataChange[] => {
    const [was, is] = [before[key] as string, after[key] as string]
    if (!has(before, key)) return [{ kind: 'added', key, after: is }]
    if (!has(after, key)) return [{ kind: 'removed', key, before: was }]
    return was === is ? [] : [{ kind: 'changed', key, before: was, after: is }]
  })
}
