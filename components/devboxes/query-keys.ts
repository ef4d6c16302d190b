export const devboxKeys = {
  all: ['devboxes'] as const,
  lists: ['devboxes', 'list'] as const,
  one: (id: string) => ['devboxes', 'get', id] as const,
}
