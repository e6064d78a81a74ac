{{- define "sepad.name" -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sepad.selector" -}}
app.kubernetes.io/name: sepad
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sepad.labels" -}}
{{ include "sepad.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
