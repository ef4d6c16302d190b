/** Apart from the queries: the frame makes devboxes be asked for again on pages that know nothing else of them. */
export const devboxKeys = {
  all: ['devboxes'] as const,
  lists: ['devboxes', 'list'] as const,
  one: (id: string) => ['devboxes', 'get', id] as const,
}
