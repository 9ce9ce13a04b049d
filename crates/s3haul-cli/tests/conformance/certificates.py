# Writes ca.pem, public.crt and private.key for 127.0.0.1 into the folder given.
import datetime
import ipaddress
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

folder = pathlib.Path(sys.argv[1])
day = datetime.timedelta(days=1)
now = datetime.datetime.now(datetime.timezone.utc)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, key, is_authority):
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    limits = x509.BasicConstraints(ca=is_authority, path_length=None)
    builder = x509.CertificateBuilder(name("authority"), name(subject), key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - day).not_valid_after(now + day)
    builder = builder.add_extension(limits, critical=True)
    return (builder if is_authority else builder.add_extension(names, critical=False))


authority, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
pem = serialization.Encoding.PEM
for file, subject, key, is_authority in [("ca.pem", "authority", authority, True),
                                         ("public.crt", "server", server, False)]:
    made = certificate(subject, key, is_authority).sign(authority, hashes.SHA256())
    (folder / file).write_bytes(made.public_bytes(pem))
plain = serialization.NoEncryption()
(folder / "private.key").write_bytes(server.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
