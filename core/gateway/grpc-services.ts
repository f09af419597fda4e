import type { DescFile, DescService } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection, type ServerReflectionRequest } from "../../proto/gen/grpc/reflection/v1/reflection_pb.ts";

/** The two services that every gRPC tool expects: health, and reflection over the services named. */
export function routeGrpcServices(router: ConnectRouter, services: readonly DescService[]): void {
  const names = new Set(["", ...services.map((service) => service.typeName)]);
  router.service(Health, {
    check({ service }) {
      if (!names.has(service)) throw new ConnectError(`no service "${service}" here`, Code.NotFound);
      return { status: Serving.SERVING };
    },
    async *watch({ service }, { signal }) {
      yield { status: names.has(service) ? Serving.SERVING : Serving.SERVICE_UNKNOWN };
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  });
  const reflect = reflection([...services, Health, ServerReflection]);
  router.service(ServerReflection, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield { validHost: request.host, originalRequest: request, messageResponse: reflect(request) };
      }
    },
  });
}

function reflection(services: readonly DescService[]) {
  const files = new Map<string, DescFile>();
  const fileOfSymbol = new Map<string, DescFile>();
  const visit = (file: DescFile) => {
    if (files.has(`${file.name}.proto`)) return;
    files.set(`${file.name}.proto`, file);
    for (const symbol of [...file.services, ...file.messages, ...file.enums]) fileOfSymbol.set(symbol.typeName, file);
    for (const service of file.services) {
      for (const method of service.methods) fileOfSymbol.set(`${service.typeName}.${method.name}`, file);
    }
    file.dependencies.forEach(visit);
  };
  for (const service of services) visit(service.file);

  return ({ messageRequest }: ServerReflectionRequest) => {
    switch (messageRequest.case) {
      case "listServices":
        return answer("listServicesResponse", { service: services.map(({ typeName: name }) => ({ name })) });
      case "fileByFilename":
        return described(files.get(messageRequest.value), messageRequest.value);
      case "fileContainingSymbol":
        return described(fileOfSymbol.get(messageRequest.value), messageRequest.value);
      case "allExtensionNumbersOfType":
        return answer("allExtensionNumbersResponse", { baseTypeName: messageRequest.value, extensionNumber: [] });
      default:
        return answer("errorResponse", { errorCode: Code.NotFound, errorMessage: "there are no extensions here" });
    }
  };
}

function described(file: DescFile | undefined, wanted: string) {
  if (file === undefined) {
    return answer("errorResponse", { errorCode: Code.NotFound, errorMessage: `nothing is called "${wanted}" here` });
  }
  return answer("fileDescriptorResponse", { fileDescriptorProto: [...withDependencies(file)].map(encode) });
}

/** The asked file first, then all it needs, so that a client need not ask again. */
function withDependencies(file: DescFile, seen = new Set<DescFile>()): ReadonlySet<DescFile> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const dependency of file.dependencies) withDependencies(dependency, seen);
  return seen;
}

function encode(file: DescFile): Uint8Array<ArrayBuffer> {
  return toBinary(FileDescriptorProtoSchema, file.proto);
}

function answer<Case extends string, Value>(kind: Case, value: Value): { case: Case; value: Value } {
  return { case: kind, value };
}
