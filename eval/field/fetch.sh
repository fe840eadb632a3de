#!/bin/sh
# fetch.sh builds the corpora of the field evaluation in a folder:
#
#	eval/field/fetch.sh [FOLDER]      (default ./field-data)
#
# Five corpora come from Debian packages, one is the source of a Go module, and
# one (office) is a copy of the folder beside this script. The versions are
# pinned and their checksums verified, because the questions were written from
# exactly these texts. A corpus that is complete is skipped, so an interrupted
# run continues where it stopped. No special rights are needed. The script uses
# apt-get where it can, else curl; and dpkg-deb, gzip, sha256sum and go.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./field-data}
mkdir -p "$out/.download"
out=$(cd "$out" && pwd)
download=$out/.download

say() { printf '%-8s %s\n' "$1" "$2"; }
fail() { printf 'fetch.sh: %s\n' "$1" >&2; exit 1; }
for tool in apt-get dpkg-deb sha256sum gzip go; do
	command -v "$tool" >/dev/null || fail "$tool is needed and not installed"
done

checksum() { sha256sum "$1" | cut -d' ' -f1; }

# package NAME VERSION SHA256 unpacks a package into $download/NAME.
package() {
	name=$1 version=$2 want=$3
	file=$download/${name}_$version.deb
	if [ -f "$file" ] && [ "$(checksum "$file")" != "$want" ]; then
		rm -f "$file"
	fi
	if [ ! -f "$file" ]; then
		fresh=$download/fresh
		rm -rf "$fresh"
		mkdir "$fresh"
		(cd "$fresh" && apt-get download "$name=$version" >/dev/null 2>&1) ||
			fail "apt-get cannot download $name $version; run apt-get update, or add the Debian archive that has it"
		mv "$fresh"/*.deb "$file"
		rmdir "$fresh"
	fi
	got=$(checksum "$file")
	[ "$got" = "$want" ] || fail "$name $version has checksum $got, want $want"
	rm -rf "${download:?}/$name"
	dpkg-deb -x "$file" "$download/$name"
	printf '%s\t%s %s\tsha256 %s\n' "$corpus" "$name" "$version" "$got" >>"$building.version"
}

# begin NAME starts a corpus, or fails if the corpus is complete. A corpus is
# built aside and renamed by finish.
begin() {
	corpus=$1
	building=$download/building-$corpus
	if [ -d "$out/$corpus" ]; then
		say "$corpus" "is there, skipped"
		return 1
	fi
	say "$corpus" "fetching"
	rm -rf "$building" "$building.version"
	mkdir "$building"
}

finish() {
	find "$building" -type d -exec chmod 755 {} +
	find "$building" -type f -exec chmod 644 {} +
	mv "$building" "$out/$corpus"
	find "$download" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} + # unpacked packages
	touch "$out/VERSIONS"
	grep -v "^$corpus	" "$out/VERSIONS" >"$out/VERSIONS.new" || true
	cat "$building.version" >>"$out/VERSIONS.new"
	mv "$out/VERSIONS.new" "$out/VERSIONS"
	say "$corpus" "$(find "$out/$corpus" -type f | wc -l) files, $(du -sh "$out/$corpus" | cut -f1)"
}

if begin python3; then
	package python3.11-doc 3.11.2-6+deb12u8 \
		50eb63e7f636c4281e9ce1b8f10386f1def42159eddce34fc1f41c46261df71b
	html=$download/python3.11-doc/usr/share/doc/python3.11/html
	for part in faq howto library reference tutorial using; do
		mkdir "$building/$part"
		cp "$html/$part"/*.html "$building/$part"
	done
	cp "$html/glossary.html" "$html/index.html" "$building"
	finish
fi

if begin nginx; then
	package nginx-doc 1.22.1-9+deb12u9 \
		4771deb0883dbc7ddc89970382f5b658656cc9643838bedfbdfb3991ba3217cd
	package nginx-common 1.22.1-9+deb12u9 \
		12b7b98e914da6d233c9e35cec0f59f06bceb727e4d1f1ce039215b074a7267d
	cp -r "$download/nginx-doc/usr/share/doc/nginx" "$building/doc"
	gzip -dc "$download/nginx-doc/usr/share/doc/nginx-doc/changelog.gz" >"$building/doc/changelog.txt"
	common=$download/nginx-common
	gzip -dc "$common/usr/share/doc/nginx-common/NEWS.Debian.gz" >"$building/doc/NEWS.Debian.txt"
	gzip -dc "$common/usr/share/doc/nginx-common/changelog.Debian.gz" >"$building/doc/changelog.Debian.txt"
	cp -r "$common/etc" "$building/etc"
	cp "$common/lib/systemd/system/nginx.service" "$building"
	finish
fi

if begin bind9; then
	package bind9-doc 1:9.18.49-1~deb12u1 \
		3e3f69ba632d2cbf3801003944c741dbe9db0c172ec53fe4a6d2bd7bb694e5e9
	cp "$download/bind9-doc/usr/share/doc/bind9-doc/arm"/*.html "$building"
	rm "$building/search.html" "$building/genindex.html"
	gzip -dc "$download/bind9-doc/usr/share/doc/bind9/options.gz" >"$building/options.txt"
	finish
fi

if begin zsh; then
	package zsh-doc 5.9-4 \
		79bd75df4bf03d1021e993fd773f82b8a4c8d76649e420cd32eca940cf418ff4
	cp "$download/zsh-doc/usr/share/doc/zsh-common/html"/*.html "$building"
	finish
fi

if begin octave; then
	package octave-doc 7.3.0-2 \
		b27897cc7e3d688daa5cb8f8d1ea47077f3fbd205ce32e22522200ff0c1eadd5
	cp "$download/octave-doc/usr/share/doc/octave/octave.pdf" \
		"$download/octave-doc/usr/share/doc/octave/refcard-a4.pdf" "$building"
	finish
fi

if begin gomod; then
	module=github.com/nats-io/nats.go version=v1.55.0
	want=h1:Ng8QKHdvdHIWoaiq0+d/aH1BWkxvcJxWJ0Y/9BPKx3M=
	answer=$(cd "$download" && GOFLAGS=-mod=mod go mod download -json "$module@$version") ||
		fail "cannot download $module $version"
	field() { printf '%s\n' "$answer" | sed -n "s/^.*\"$1\": \"\(.*\)\".*$/\1/p"; }
	[ "$(field Sum)" = "$want" ] || fail "$module $version has checksum $(field Sum), want $want"
	cp -r "$(field Dir)/." "$building"
	chmod -R u+w "$building"
	printf '%s\t%s %s\tsum %s\n' "$corpus" "$module" "$version" "$want" >"$building.version"
	finish
fi

rm -rf "$out/office" # cheap to copy, and it may have changed
if begin office; then
	cp -r "$here/office/." "$building"
	printf '%s\t%s\t%s\n' "$corpus" "the folder eval/field/office" "version control" >"$building.version"
	finish
fi

say done "$out"
