import { deleteRecording, getRecording } from '#lib/gateway/terminals/recordings.ts'

export const dynamic = 'force-dynamic'

interface Context {
  params: Promise<{ id: string }>
}

export const GET = async (request: Request, { params }: Context) => getRecording(request, (await params).id)
export const DELETE = async (request: Request, { params }: Context) => deleteRecording(request, (await params).id)
