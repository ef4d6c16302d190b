import { deleteRecording, getRecording } from '#lib/gateway/terminals/recordings.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  getRecording(request, (await params).id)
export const DELETE = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  deleteRecording(request, (await params).id)
