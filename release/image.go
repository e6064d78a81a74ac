package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// An image is an archive in the layout of the Open Container Initiative, with the older
// manifest beside it that "docker load" reads. It has the program, the certificates of
// the authorities that webhooks and gateways are checked by, and a user who is nobody.

// roots are where systems keep the certificates of authorities.
var roots = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

const (
	nobody     = 65532
	layerType  = "application/vnd.oci.image.layer.v1.tar+gzip"
	configType = "application/vnd.oci.image.config.v1+json"
	imageType  = "application/vnd.oci.image.manifest.v1+json"
	indexType  = "application/vnd.oci.image.index.v1+json"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    map[string]string `json:"platform,omitempty"`
}

// image gathers the blobs of an archive by their digest.
type image struct {
	version version
	names   []string
	blobs   map[string][]byte
}

func (i *image) add(mediaType string, blob []byte) descriptor {
	digest := sum(blob)
	name := "blobs/sha256/" + digest
	i.names, i.blobs[name] = append(i.names, name), blob
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(blob)}
}

func (i *image) addJSON(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	return i.add(mediaType, text), err
}

func sum(blob []byte) string {
	digest := sha256.Sum256(blob)
	return hex.EncodeToString(digest[:])
}

// writeImage writes the archive of one platform.
func (v version) writeImage(file, program string, p platform) error {
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	authorities, err := readRoots()
	if err != nil {
		return err
	}
	i := &image{version: v, blobs: map[string][]byte{}}
	plain, err := i.layer(binary, authorities)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(plain); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	layer := i.add(layerType, packed.Bytes())
	config, err := i.addJSON(configType, v.imageConfig(p, sum(plain)))
	if err != nil {
		return err
	}
	manifest, err := i.addJSON(imageType, map[string]any{"schemaVersion": 2, "mediaType": imageType, "config": config, "layers": []descriptor{layer}})
	if err != nil {
		return err
	}
	manifest.Platform = map[string]string{"os": p.system, "architecture": p.processor}
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": v.number, "io.containerd.image.name": "docker.io/library/sepad:" + v.number}
	if err := i.describe(layer, config, manifest); err != nil {
		return err
	}
	return i.write(file)
}

// describe adds what names the image, in both layouts.
func (i *image) describe(layer, config, manifest descriptor) error {
	inside := func(d descriptor) string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }
	for name, value := range map[string]any{
		"oci-layout": map[string]string{"imageLayoutVersion": "1.0.0"},
		"index.json": map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{manifest}},
		"manifest.json": []map[string]any{{
			"Config": inside(config), "RepoTags": []string{"sepad:" + i.version.number, "sepad:latest"}, "Layers": []string{inside(layer)},
		}},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		i.blobs[name] = text
	}
	i.names = append(i.names, "oci-layout", "index.json", "manifest.json")
	return nil
}

func readRoots() ([]byte, error) {
	for _, name := range roots {
		if text, err := os.ReadFile(name); err == nil {
			return text, nil
		}
	}
	return nil, errors.New("the certificates of authorities were not found: install ca-certificates")
}

// layer is the file system of the image.
func (i *image) layer(binary, authorities []byte) ([]byte, error) {
	const folder, public, runnable = 0o755, 0o644, 0o755
	var text bytes.Buffer
	out := tar.NewWriter(&text)
	for _, name := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/"} {
		if err := i.entry(out, tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: folder}, nil); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name string
		mode int64
		text []byte
	}{
		{"etc/passwd", public, fmt.Appendf(nil, "sepad:x:%d:%d::/:/nologin\n", nobody, nobody)},
		{"etc/group", public, fmt.Appendf(nil, "sepad:x:%d:\n", nobody)},
		{"etc/ssl/certs/ca-certificates.crt", public, authorities},
		{"sepad", runnable, binary},
	} {
		if err := i.entry(out, tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: f.mode}, f.text); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), out.Close()
}

func (i *image) entry(out *tar.Writer, about tar.Header, text []byte) error {
	about.ModTime, about.Size = i.version.date, int64(len(text))
	if err := out.WriteHeader(&about); err != nil {
		return err
	}
	_, err := out.Write(text)
	return err
}

func (v version) imageConfig(p platform, plainDigest string) map[string]any {
	return map[string]any{
		"created": v.date.Format(dateLayout), "architecture": p.processor, "os": p.system,
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", nobody, nobody), "Entrypoint": []string{"/sepad"}, "Cmd": []string{"--help"}, "WorkingDir": "/",
			"ExposedPorts": map[string]any{"8080/tcp": struct{}{}, "8081/tcp": struct{}{}},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "sepad", "org.opencontainers.image.version": v.number,
				"org.opencontainers.image.revision": v.commit, "org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + plainDigest}},
		"history": []map[string]any{{"created": v.date.Format(dateLayout), "created_by": "make release"}},
	}
}

// write puts the blobs into the archive.
func (i *image) write(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(i.archive(file), file.Close())
}

func (i *image) archive(to io.Writer) error {
	const folder, public = 0o755, 0o644
	out := tar.NewWriter(to)
	for _, name := range []string{"blobs/", "blobs/sha256/"} {
		if err := i.entry(out, tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: folder}, nil); err != nil {
			return err
		}
	}
	for _, name := range i.names {
		if err := i.entry(out, tar.Header{Name: path.Clean(name), Typeflag: tar.TypeReg, Mode: public}, i.blobs[name]); err != nil {
			return err
		}
	}
	return out.Close()
}
