import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Given to all: reads one temperature from each line of a file. */
public class Reader {
    public static List<Double> read(String file) throws IOException {
        List<Double> values = new ArrayList<>();
        try (BufferedReader in = new BufferedReader(new FileReader(file))) {
            String line;
            while ((line = in.readLine()) != null) {
                line = line.trim();
                if (!line.isEmpty() && line.charAt(0) != '#') {
                    values.add(Double.parseDouble(line));
                }
            }
        }
        return values;
    }
}
